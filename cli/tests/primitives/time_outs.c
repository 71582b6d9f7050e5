// Waits that may end by themselves, one after the other: each may with nothing between, in whatever functions they are, and a few in one place.
// case semaphores: 00 | 01 | 10
// case locks: 000 | 001 | 011 | 100 | 101 | 110 | 111
// case few: 0 | 1
// case woken-few: 0 | 1
// options woken-few: --spurious
// case woken-until: 1
// options woken-until: --spurious
// case loop: done
// covers loop: what is seen
// note loop: timed waits: a thread comes to one again and again
// note locks: timed waits: in one place a thread times out three times, and then only once between changes by other threads
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int x;
static struct timespec soon(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec++;
  return time;
}
static void *post(void *p) {
  sem_post(&s);
  return p;
}
static void *set(void *p) {
  __atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);
  return p;
}
static void *hold(void *p) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return p;
}
static int get(void) {
  struct timespec until = soon(CLOCK_REALTIME);
  return !sem_timedwait(&s, &until);
}
static int lock(void) {
  struct timespec until = soon(CLOCK_MONOTONIC);
  int got = !pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &until);
  if (got) pthread_mutex_unlock(&m);
  return got;
}
int main(int count, char **arguments) {
  const char *is = count > 1 ? arguments[1] : "";
  int locks = !strcmp(is, "locks");
  int seen = !strcmp(is, "few") || !strncmp(is, "woken", 5);
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, locks ? hold : seen ? set : post, 0);
  if (locks) {
    int a = lock();
    int b = lock();
    int c = lock();
    printf("%d%d%d", a, b, c);
  } else if (!strcmp(is, "loop")) {
    for (int i = 0; i < 5; i++) get();
    printf("done");
  } else if (!strcmp(is, "few")) {
    // Both before the other thread begins, too, though no step of its own tells of that.
    for (int i = 0; i < 2; i++) get();
    printf("%d", __atomic_load_n(&x, __ATOMIC_SEQ_CST));
  } else if (seen) {
    pthread_mutex_lock(&m);
    if (!strcmp(is, "woken-few"))
      for (int i = 0; i < 2; i++) pthread_cond_wait(&c, &m);
    else
      while (!__atomic_load_n(&x, __ATOMIC_SEQ_CST)) pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    printf("%d", __atomic_load_n(&x, __ATOMIC_SEQ_CST));
  } else {
    int a = get();
    int b = get();
    printf("%d%d", a, b);
  }
  pthread_join(t, 0);
  return 0;
}
