// Condition variables: time limits, which of several waiters a signal wakes, wake-ups without a cause, and signals that nobody hears.
// case timed: 0 | 110
// case clock: 0 | 110
// case several: 1 | 2
// case broadcast: 2
// case careless: 1
// case careless-and-spurious: 0 | 1
// options careless-and-spurious: --spurious
// case careful-and-spurious: 1
// options careful-and-spurious: --spurious
// case timed-and-spurious: 0 0 | 0 1 | 110 0 | 110 1
// options timed-and-spurious: --spurious
// case lost: done | lost-wake-up a thread waits for a signal that came before the wait
// case never: deadlock-condition a thread waits for a signal that nobody is left to give
// case not-owner: 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;
static int ready, waiting, first, woken;
static const struct timespec later = {2000000000, 0};
static void *give(void *unused) {
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_cond_signal(&c);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *signal_only(void *unused) {
  pthread_cond_signal(&c);
  return unused;
}
static void *wait_as(void *id) {
  pthread_mutex_lock(&m);
  waiting++;
  pthread_cond_signal(&arrived);
  pthread_cond_wait(&c, &m);
  if (!first) first = (int)(long)id;
  woken++;
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&m);
  return NULL;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t, u;
  int result = 0;
  if (!strcmp(is, "timed") || !strcmp(is, "clock")) {
    pthread_create(&t, NULL, give, NULL);
    pthread_mutex_lock(&m);
    if (!ready) result = *is == 't' ? pthread_cond_timedwait(&c, &m, &later) : pthread_cond_clockwait(&c, &m, CLOCK_MONOTONIC, &later);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "timed-and-spurious")) {
    pthread_create(&t, NULL, give, NULL);
    pthread_mutex_lock(&m);
    if (!ready) result = pthread_cond_timedwait(&c, &m, &later);
    printf("%d %d", result, ready);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "several") || !strcmp(is, "broadcast")) {
    pthread_create(&t, NULL, wait_as, (void *)1);
    pthread_create(&u, NULL, wait_as, (void *)2);
    pthread_mutex_lock(&m);
    while (waiting < 2) pthread_cond_wait(&arrived, &m);
    if (*is == 's') {
      pthread_cond_signal(&c);
      while (!first) pthread_cond_wait(&arrived, &m);
    }
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d", *is == 's' ? first : woken);
  } else if (!strncmp(is, "care", 4)) {
    pthread_create(&t, NULL, give, NULL);
    pthread_mutex_lock(&m);
    if (!ready) pthread_cond_wait(&c, &m);
    while (strstr(is, "careful") && !ready) pthread_cond_wait(&c, &m);
    result = ready;
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "lost")) {
    pthread_create(&t, NULL, signal_only, NULL);
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    pthread_join(t, NULL);
    printf("done");
  } else if (!strcmp(is, "never")) {
    pthread_mutex_lock(&m);
    pthread_cond_wait(&c, &m);
  } else {
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&m, &a);
    printf("%d", pthread_cond_wait(&c, &m));
  }
  fflush(stdout);
}
