// A thread spins on a flag that nobody sets.
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag, go;
static void *work(void *unused) {
  if (atomic_load(&go)) atomic_store(&flag, 1);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  atomic_store(&go, 1);
  while (!atomic_load(&flag)) { }
  pthread_join(t, NULL);
}
