// Two threads that nobody waits for: whoever runs last is alone by then, and its accesses still come before or after those of the other.
// schedules: 3 with THREADS=2
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x, y;

static void *first(void *unused) {
  atomic_store(&x, 1);
  atomic_load(&y);
  return unused;
}

static void *second(void *unused) {
  atomic_store(&y, 1);
  atomic_load(&x);
  return unused;
}

int main(void) {
  pthread_t a, b;
  pthread_create(&a, NULL, first, NULL);
  pthread_create(&b, NULL, second, NULL);
  pthread_exit(NULL);
}
