// A thread that draws numbers until one suits it is no livelock, though nothing that anybody sees changes meanwhile.
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int done;
static void *draw(void *unused) {
  while (rand() % 300) sched_yield();
  atomic_store(&done, 1);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, draw, NULL);
  pthread_join(t, NULL);
  assert(done);
}
