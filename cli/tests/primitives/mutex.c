// Mutexes of all kinds. The number printed is what the call in question returned.
// case recursive: 0 | 16
// case error-checking: 35 1
// case robust: 0 | 130
// case robust-left-inconsistent: 130 131
// case robust-waited-for: 0 130 | 130 0
// case timed: 0 | 110
// case clock: 0 | 110
// case try: 0 | 16
// case destroyed: 0 | 16
// case adaptive: 2
// case again: deadlock-self a thread waits for a lock that it holds itself
// case shared: 2
// note shared: locks or semaphores may be shared with other processes
// case priorities: 2
// note priorities: locks with a priority protocol are treated as ordinary ones
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t m;
static int n, results[2];
static pthread_t t;
static const struct timespec later = {2000000000, 0};
static void *hold(void *unused) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *hold_twice(void *unused) {
  if (pthread_mutex_lock(&m) || pthread_mutex_lock(&m)) return &m;
  pthread_mutex_unlock(&m);
  if (pthread_mutex_trylock(&m)) return &m;
  pthread_mutex_unlock(&m);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *add(void *unused) {
  pthread_mutex_lock(&m);
  n++;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *die(void *at) {
  results[at != NULL] = pthread_mutex_lock(&m);
  return NULL;
}
static void start(void *(*routine)(void *)) { pthread_create(&t, NULL, routine, NULL); }
static int join(void) {
  void *failed;
  pthread_join(t, &failed);
  return failed != NULL;
}
static int try_beside(void *(*routine)(void *)) {
  start(routine);
  int result = pthread_mutex_trylock(&m);
  if (!result) pthread_mutex_unlock(&m);
  if (join()) printf("broken ");
  return result;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  if (strstr(is, "robust")) pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  if (!strcmp(is, "recursive")) pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
  if (!strcmp(is, "error-checking")) pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
  if (!strcmp(is, "adaptive")) pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
  if (!strcmp(is, "shared")) pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED);
  if (!strcmp(is, "priorities")) pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&m, &a);
  if (!strcmp(is, "recursive")) {
    printf("%d", try_beside(hold_twice));
  } else if (!strcmp(is, "try")) {
    printf("%d", try_beside(hold));
  } else if (!strcmp(is, "error-checking")) {
    start(hold);
    int foreign = pthread_mutex_unlock(&m);
    join();
    pthread_mutex_lock(&m);
    printf("%d %d", pthread_mutex_lock(&m), foreign);
  } else if (!strcmp(is, "robust")) {
    start(die);
    int result = pthread_mutex_lock(&m);
    if (result == 130 && pthread_mutex_consistent(&m)) printf("broken ");
    pthread_mutex_unlock(&m);
    join();
    printf("%d", result);
  } else if (!strcmp(is, "robust-left-inconsistent")) {
    start(die);
    join();
    printf("%d ", pthread_mutex_lock(&m));
    pthread_mutex_unlock(&m);
    printf("%d", pthread_mutex_lock(&m));
  } else if (!strcmp(is, "robust-waited-for")) {
    pthread_t u;
    start(die);
    pthread_create(&u, NULL, die, &u);
    pthread_join(u, NULL);
    join();
    printf("%d %d", results[0], results[1]);
  } else if (!strcmp(is, "timed") || !strcmp(is, "clock")) {
    start(hold);
    int result = *is == 't' ? pthread_mutex_timedlock(&m, &later) : pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &later);
    if (!result) pthread_mutex_unlock(&m);
    join();
    printf("%d", result);
  } else if (!strcmp(is, "destroyed")) {
    start(hold);
    int result = pthread_mutex_destroy(&m);
    if (!result) pthread_mutex_init(&m, NULL);
    join();
    printf("%d", result);
  } else if (!strcmp(is, "again")) {
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&m);
  } else {
    start(add);
    add(NULL);
    join();
    printf("%d", n);
  }
  fflush(stdout);
}
