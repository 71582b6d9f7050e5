// Which of THREADS writes comes last is seen when all are over, and nobody is left to come in between.
// schedules: 2 with THREADS=2, 6 with THREADS=3
// classes by reads-from: 2 with THREADS=2, 3 with THREADS=3
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *write_it(void *value) {
  x = 1 + (int)(long)value;
  pthread_exit(0);
}

int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++)
    pthread_create(&threads[i], 0, write_it, (void *)i);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], 0);
  return x == 0;
}
