// Names of threads: those that one gives and another asks for.
// case own: main
// case other: main | self
// case given: given | main
// case both: given | self
// case unasked: pass
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
static const char *is;
static char seen[16];
static void *work(void *unused) {
  if (!strcmp(is, "own") || !strcmp(is, "unasked") || !strcmp(is, "both")) pthread_setname_np(pthread_self(), "self");
  if (!strcmp(is, "other")) prctl(PR_SET_NAME, "self");
  if (!strcmp(is, "given")) prctl(PR_GET_NAME, seen);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  pthread_setname_np(pthread_self(), "main");
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "other")) pthread_getname_np(t, seen, sizeof seen);
  if (!strcmp(is, "given") || !strcmp(is, "both") || !strcmp(is, "unasked")) pthread_setname_np(t, "given");
  if (!strcmp(is, "own")) pthread_getname_np(pthread_self(), seen, sizeof seen);
  if (!strcmp(is, "both")) pthread_getname_np(t, seen, sizeof seen);
  pthread_join(t, 0);
  printf("%s", seen);
}
