// Each of two threads writes one variable and reads the other's: not both can read the old value.
// schedules: 3 with THREADS=2
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int seen_x, seen_y;
static void *first(void *unused) {
  atomic_store(&x, 1);
  seen_y = atomic_load(&y);
  return unused;
}
static void *second(void *unused) {
  atomic_store(&y, 1);
  seen_x = atomic_load(&x);
  return unused;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, first, NULL);
  pthread_create(&u, NULL, second, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  assert(seen_x || seen_y);
}
