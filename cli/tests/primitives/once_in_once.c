// A routine of once that comes back to its own once waits for itself; one that comes to another does not.
// case own: deadlock-self a thread waits for a lock that it holds itself
// case other: 2
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static pthread_once_t own = PTHREAD_ONCE_INIT, other = PTHREAD_ONCE_INIT;
static int runs;
static const char *is;
static void inner(void) { runs++; }
static void outer(void) {
  if (strcmp(is, "own")) pthread_once(&other, inner);
  else pthread_once(&own, outer);
  runs++;
}
static void *work(void *p) {
  pthread_once(&own, outer);
  return p;
}
int main(int count, char **arguments) {
  is = arguments[1];
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_once(&other, inner);
  pthread_join(t, 0);
  printf("%d", runs);
  return 0;
}
