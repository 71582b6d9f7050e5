// Threads that read a stream until they come to what they look for: where they are in it is known to the C library alone.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
static atomic_int done;
static void *find(void *text) {
  FILE *stream = fmemopen(text, 6, "r");
  while (fgetc(stream) != 'b') sched_yield();
  fclose(stream);
  done++;
  return NULL;
}
int main(void) {
  static char text[] = "aaaaab";
  pthread_t t;
  pthread_create(&t, NULL, find, text);
  find(text);
  pthread_join(t, NULL);
  assert(done == 2);
}
