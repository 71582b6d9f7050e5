// The order of writes that nobody reads makes schedules, but no classes by what reads read from.
// schedules: 6 with THREADS=2, 24 with THREADS=3
// classes by reads-from: 3 with THREADS=2, 4 with THREADS=3
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *write_it(void *value) {
  x = 1 + (int)(long)value;
  return 0;
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, write_it, (void *)i);
  int found = x;
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return found > THREADS;
}
