// A spin loop on an atomic flag ends in every schedule, because waiting threads give way.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag;
static int data;
static void *produce(void *unused) {
  data = 7;
  atomic_store(&flag, 1);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, produce, NULL);
  while (!atomic_load(&flag)) { }
  assert(data == 7);
  pthread_join(t, NULL);
}
