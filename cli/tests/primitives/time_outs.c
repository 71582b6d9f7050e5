// Waits with time limits, one after the other: each may time out with nothing between, in whatever functions they are.
// case semaphores: 00 | 01 | 10
// case locks: 000 | 001 | 011 | 100 | 101 | 110 | 111
// case loop: done
// covers loop: what is seen
// note loop: timed waits: a thread comes to one again that had timed out
// note locks: timed waits: a thread times out at most once in a place between changes by other threads
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
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
  int locks = count > 1 && !strcmp(arguments[1], "locks");
  pthread_t t;
  sem_init(&s, 0, 0);
  pthread_create(&t, 0, locks ? hold : post, 0);
  if (locks) {
    int a = lock();
    int b = lock();
    int c = lock();
    printf("%d%d%d", a, b, c);
  } else if (count > 1 && !strcmp(arguments[1], "loop")) {
    for (int i = 0; i < 2; i++) get();
    printf("done");
  } else {
    int a = get();
    int b = get();
    printf("%d%d", a, b);
  }
  pthread_join(t, 0);
  return 0;
}
