// Semaphores, with and without a name.
// case one: alone
// case two: alone | together
// case try: 0 | 11
// case timed: 0 | 110
// case clock: 0 | 110
// case value: 1
// case value-beside: 0 | 1
// case named: 1
// note named: locks or semaphores may be shared with other processes
// case named-exclusive: 1 | 2
// case named-missing: 2 22
// case shared: alone
// note shared: locks or semaphores may be shared with other processes
// case full: -1 75 2147483647
// case too-many: -1 22
// case never: deadlock-condition a thread waits for a signal that nobody is left to give
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static sem_t s;
static atomic_int inside, together, winner;
static const struct timespec later = {2000000000, 0};
static void *visit(void *unused) {
  sem_wait(&s);
  if (++inside == 2) together = 1;
  inside--;
  sem_post(&s);
  return unused;
}
static void *post(void *unused) {
  sem_post(&s);
  return unused;
}
static void *post_by_name(void *unused) {
  sem_t *named = sem_open("/atomfix", O_CREAT, 0600, 0);
  sem_post(named);
  sem_close(named);
  return unused;
}
static void *claim(void *id) {
  if (sem_open("/atomfix", O_CREAT | O_EXCL, 0600, 0) != SEM_FAILED) winner = (int)(long)id;
  else if (errno != EEXIST) winner = -1;
  return NULL;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t, u;
  int result = -1;
  if (!strcmp(is, "one") || !strcmp(is, "two") || !strcmp(is, "shared")) {
    sem_init(&s, *is == 's', *is == 't' ? 2 : 1);
    pthread_create(&t, NULL, visit, NULL);
    visit(NULL);
    pthread_join(t, NULL);
    printf("%s", together ? "together" : "alone");
  } else if (!strcmp(is, "value")) {
    pthread_create(&t, NULL, post, NULL);
    pthread_create(&u, NULL, post, NULL);
    sem_wait(&s);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    sem_getvalue(&s, &result);
    printf("%d", result);
  } else if (!strcmp(is, "value-beside")) {
    pthread_create(&t, NULL, post, NULL);
    sem_getvalue(&s, &result);
    pthread_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "named")) {
    pthread_create(&t, NULL, post_by_name, NULL);
    sem_t *named = sem_open("/atomfix", O_CREAT, 0600, 0);
    sem_wait(named);
    pthread_join(t, NULL);
    printf("%d", sem_close(named) == 0 && sem_unlink("/atomfix") == 0 && sem_unlink("/atomfix") == -1);
  } else if (!strcmp(is, "named-exclusive")) {
    pthread_create(&t, NULL, claim, (void *)1);
    pthread_create(&u, NULL, claim, (void *)2);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d", winner);
  } else if (!strcmp(is, "named-missing")) {
    printf("%d ", sem_open("/atomfix", 0) == SEM_FAILED ? errno : 0);
    printf("%d", sem_close(&s) ? errno : 0);
  } else if (!strcmp(is, "full")) {
    sem_init(&s, 0, SEM_VALUE_MAX - 1);
    sem_post(&s);
    errno = 0;
    printf("%d ", sem_post(&s));
    printf("%d ", errno);
    sem_getvalue(&s, &result);
    printf("%d", result);
  } else if (!strcmp(is, "too-many")) {
    printf("%d ", sem_init(&s, 0, SEM_VALUE_MAX + 1u));
    printf("%d", errno);
  } else if (!strcmp(is, "never")) {
    sem_wait(&s);
  } else {
    pthread_create(&t, NULL, post, NULL);
    if (!strcmp(is, "try")) result = sem_trywait(&s);
    if (!strcmp(is, "timed")) result = sem_timedwait(&s, &later);
    if (!strcmp(is, "clock")) result = sem_clockwait(&s, CLOCK_MONOTONIC, &later);
    if (result) result = errno;
    pthread_join(t, NULL);
    printf("%d", result);
  }
  fflush(stdout);
}
