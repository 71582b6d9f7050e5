// Reader-writer locks. "together" says whether two threads were inside at once.
// case readers: alone | together
// case writers: alone
// case reader-and-writer: alone
// case try-read: 0 | 16
// case try-write: 0 | 16
// case timed-read: 0 | 110
// case timed-write: 0 | 110
// case clock-write: 0 | 110
// case readers-first: 0
// case writers-first: 0 | 16
// case writers-first-again: done | deadlock-lock threads wait for locks in a cycle
// case readers-first-again: done
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
static pthread_rwlock_t l;
static atomic_int inside, together;
static const struct timespec later = {2000000000, 0};
static void visit(void) {
  if (++inside == 2) together = 1;
  inside--;
}
static void *reader(void *unused) {
  pthread_rwlock_rdlock(&l);
  visit();
  pthread_rwlock_unlock(&l);
  return unused;
}
static void *writer(void *unused) {
  pthread_rwlock_wrlock(&l);
  visit();
  pthread_rwlock_unlock(&l);
  return unused;
}
static void *quick_reader(void *unused) {
  pthread_rwlock_rdlock(&l);
  pthread_rwlock_unlock(&l);
  return unused;
}
static void *quick_writer(void *unused) {
  pthread_rwlock_wrlock(&l);
  pthread_rwlock_unlock(&l);
  return unused;
}
static void *try_reader(void *result) {
  *(int *)result = pthread_rwlock_tryrdlock(&l);
  if (!*(int *)result) pthread_rwlock_unlock(&l);
  return NULL;
}
static void both(void *(*one)(void *), void *(*two)(void *)) {
  pthread_t t;
  pthread_create(&t, NULL, one, NULL);
  two(NULL);
  pthread_join(t, NULL);
  printf("%s", together ? "together" : "alone");
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_rwlockattr_t a;
  pthread_t t, u;
  int result = -1;
  pthread_rwlockattr_init(&a);
  if (!strncmp(is, "writers-first", 13)) pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
  pthread_rwlock_init(&l, &a);
  if (!strcmp(is, "readers")) {
    both(reader, reader);
  } else if (!strcmp(is, "writers")) {
    both(writer, writer);
  } else if (!strcmp(is, "reader-and-writer")) {
    both(reader, writer);
  } else if (!strcmp(is, "readers-first") || !strcmp(is, "writers-first")) {
    pthread_rwlock_rdlock(&l);
    pthread_create(&t, NULL, quick_writer, NULL);
    pthread_create(&u, NULL, try_reader, &result);
    pthread_join(u, NULL);
    pthread_rwlock_unlock(&l);
    pthread_join(t, NULL);
    printf("%d", result);
  } else if (strstr(is, "-again")) {
    pthread_rwlock_rdlock(&l);
    pthread_create(&t, NULL, quick_writer, NULL);
    pthread_rwlock_rdlock(&l);
    pthread_rwlock_unlock(&l);
    pthread_rwlock_unlock(&l);
    pthread_join(t, NULL);
    printf("done");
  } else {
    int write = strstr(is, "write") != NULL;
    pthread_create(&t, NULL, write ? quick_reader : quick_writer, NULL);
    if (!strcmp(is, "try-read")) result = pthread_rwlock_tryrdlock(&l);
    if (!strcmp(is, "try-write")) result = pthread_rwlock_trywrlock(&l);
    if (!strcmp(is, "timed-read")) result = pthread_rwlock_timedrdlock(&l, &later);
    if (!strcmp(is, "timed-write")) result = pthread_rwlock_timedwrlock(&l, &later);
    if (!strcmp(is, "clock-write")) result = pthread_rwlock_clockwrlock(&l, CLOCK_MONOTONIC, &later);
    if (!result) pthread_rwlock_unlock(&l);
    pthread_join(t, NULL);
    printf("%d", result);
  }
  fflush(stdout);
}
