// Barriers, once, spin locks, giving way.
// case barrier: 1 | 2
// case barrier-again: 2
// case barrier-last: 1 1 | 1 2 | 2 1 | 2 2
// case barrier-alone: deadlock-condition a thread waits for a signal that nobody is left to give
// case once: 1 1
// case spin: 2
// case spin-try: 0 | 16
// case yield: 0 | 1
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static pthread_barrier_t b;
static pthread_once_t o = PTHREAD_ONCE_INIT;
static pthread_spinlock_t s;
static int n, made, seen[2], last;
static atomic_int flag, times;
static void *arrive(void *id) {
  if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) last = (int)(long)id, times++;
  return NULL;
}
static void *arrive_twice(void *id) {
  arrive(id);
  return arrive(id);
}
static void *arrive_and_keep(void *id) {
  for (int round = 0; round < 2; round++)
    if (pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD) seen[round] = (int)(long)id;
  return NULL;
}
static void make(void) { made++; }
static void *call(void *id) {
  pthread_once(&o, make);
  seen[(long)id - 1] = made;
  return NULL;
}
static void *add(void *unused) {
  pthread_spin_lock(&s);
  n++;
  pthread_spin_unlock(&s);
  return unused;
}
static void *set(void *unused) {
  sched_yield();
  flag = 1;
  return unused;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t;
  int result;
  pthread_barrier_init(&b, NULL, 2);
  pthread_spin_init(&s, 0);
  if (!strcmp(is, "barrier")) {
    pthread_create(&t, NULL, arrive, (void *)1);
    arrive((void *)2);
    pthread_join(t, NULL);
    printf("%d", last);
  } else if (!strcmp(is, "barrier-last")) {
    // Who leaves a round late may still be the first, or the last, of the next one.
    pthread_create(&t, NULL, arrive_and_keep, (void *)1);
    arrive_and_keep((void *)2);
    pthread_join(t, NULL);
    printf("%d %d", seen[0], seen[1]);
  } else if (!strcmp(is, "barrier-again")) {
    pthread_create(&t, NULL, arrive_twice, (void *)1);
    arrive_twice((void *)2);
    pthread_join(t, NULL);
    printf("%d", (int)times);
  } else if (!strcmp(is, "barrier-alone")) {
    arrive((void *)1);
  } else if (!strcmp(is, "once")) {
    pthread_create(&t, NULL, call, (void *)1);
    call((void *)2);
    pthread_join(t, NULL);
    printf("%d %d", seen[0], seen[1]);
  } else if (!strcmp(is, "spin")) {
    pthread_create(&t, NULL, add, NULL);
    add(NULL);
    pthread_join(t, NULL);
    printf("%d", n);
  } else if (!strcmp(is, "spin-try")) {
    pthread_create(&t, NULL, add, NULL);
    result = pthread_spin_trylock(&s);
    if (!result) pthread_spin_unlock(&s);
    pthread_join(t, NULL);
    printf("%d", result);
  } else {
    pthread_create(&t, NULL, set, NULL);
    sched_yield();
    result = flag;
    pthread_join(t, NULL);
    printf("%d", result);
  }
  fflush(stdout);
}
