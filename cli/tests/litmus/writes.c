// THREADS threads write one variable: as many schedules as there are orders.
// schedules: 2 with THREADS=2, 6 with THREADS=3, 24 with THREADS=4
#include <pthread.h>
static volatile int variable;
static void *work(void *which) {
  variable = (int)(long)which;
  return NULL;
}
int main(void) {
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}
