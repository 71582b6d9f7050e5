// Threads: attributes, and the ways to wait for their end, or not to.
// case attributes: 7
// case detached: seen
// case detached-late: seen
// case detached-joined: 3
// case try: 0 | 16
// case timed: 0 | 110
// case clock: 0 | 110
// case itself: 35
// case initial-ends: other
// case joined-in-a-cycle: deadlock-join threads wait for each other's end
// case names: app main one two main
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
static sem_t s;
static pthread_t initial;
static const struct timespec later = {2000000000, 0};
static void *seven(void *unused) {
  (void)unused;
  return (void *)7;
}
static void *post(void *unused) {
  sem_post(&s);
  return unused;
}
static void *name(void *text) {
  char own[16];
  prctl(PR_GET_NAME, own);
  printf("%s ", own);
  prctl(PR_SET_NAME, "one");
  pthread_getname_np(pthread_self(), own, sizeof own);
  printf("%s ", own);
  return text;
}
static void *say(void *unused) {
  printf("other");
  fflush(stdout);
  return unused;
}
static void *join_initial(void *unused) {
  pthread_join(initial, NULL);
  return unused;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_attr_t a;
  pthread_t t;
  void *value = NULL;
  int result = -1;
  initial = pthread_self();
  pthread_attr_init(&a);
  if (!strcmp(is, "attributes")) {
    struct sched_param p = {0};
    pthread_attr_setstacksize(&a, 1 << 18);
    pthread_attr_setguardsize(&a, 1 << 13);
    pthread_attr_setinheritsched(&a, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&a, SCHED_OTHER);
    pthread_attr_setschedparam(&a, &p);
    pthread_create(&t, &a, seven, NULL);
    pthread_join(t, &value);
    printf("%ld", (long)value);
  } else if (!strncmp(is, "detached", 8)) {
    if (strcmp(is, "detached-late")) pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
    pthread_create(&t, &a, post, NULL);
    if (!strcmp(is, "detached-late")) pthread_detach(t);
    if (!strcmp(is, "detached-joined")) {
      printf("%d", pthread_join(t, NULL));
    } else {
      sem_wait(&s);
      printf("seen");
    }
  } else if (!strcmp(is, "names")) {
    char names[2][16];
    pthread_getname_np(initial, names[0], sizeof names[0]);
    printf("%s ", names[0]);
    pthread_setname_np(initial, "main");
    pthread_setname_np(initial, "longer than names are");
    pthread_create(&t, NULL, name, NULL);
    pthread_join(t, NULL);
    pthread_create(&t, NULL, post, NULL);
    pthread_setname_np(t, "two");
    pthread_getname_np(t, names[0], sizeof names[0]);
    pthread_getname_np(initial, names[1], sizeof names[1]);
    printf("%s %s", names[0], names[1]);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "itself")) {
    printf("%d", pthread_join(initial, NULL));
  } else if (!strcmp(is, "initial-ends")) {
    pthread_create(&t, NULL, say, NULL);
    pthread_exit(NULL);
  } else if (!strcmp(is, "joined-in-a-cycle")) {
    pthread_create(&t, NULL, join_initial, NULL);
    pthread_join(t, NULL);
  } else {
    pthread_create(&t, NULL, seven, NULL);
    if (!strcmp(is, "try")) result = pthread_tryjoin_np(t, &value);
    if (!strcmp(is, "timed")) result = pthread_timedjoin_np(t, &value, &later);
    if (!strcmp(is, "clock")) result = pthread_clockjoin_np(t, &value, CLOCK_MONOTONIC, &later);
    printf("%d", result);
    if (result && pthread_join(t, &value)) printf(" broken");
    if (value != (void *)7) printf(" no value");
  }
  fflush(stdout);
}
