// Each of THREADS threads announces a thread-local variable, then sets it; the initial thread reads those that are announced, before or after.
// schedules: 3 with THREADS=1, 9 with THREADS=2
#include <pthread.h>
#include <stdatomic.h>
static _Thread_local atomic_int inside;
static _Atomic(atomic_int *) announced[THREADS];
static void *enter(void *slot) {
  atomic_store((_Atomic(atomic_int *) *)slot, &inside);
  atomic_store(&inside, 1);
  return 0;
}
int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, enter, &announced[i]);
  for (int i = 0; i < THREADS; i++) {
    atomic_int *other = atomic_load(&announced[i]);
    if (other) (void)atomic_load(other);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
}
