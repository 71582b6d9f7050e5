// A pointer is checked, taken away by another thread, and used.
#include <pthread.h>
#include <stdlib.h>
static int *volatile shared;
static void *take_away(void *unused) {
  shared = NULL;
  return unused;
}
int main(void) {
  static int value;
  pthread_t t;
  shared = &value;
  pthread_create(&t, NULL, take_away, NULL);
  if (shared) *shared = 1;
  pthread_join(t, NULL);
}
