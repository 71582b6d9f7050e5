// The program ends with a status that says that something is wrong.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static int done;
static void *work(void *unused) {
  done = 1;
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  if (!done) {
    fprintf(stderr, "not done yet\n");
    exit(3);
  }
  pthread_join(t, NULL);
}
