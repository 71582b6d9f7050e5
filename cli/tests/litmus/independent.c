// Threads that share nothing: one schedule.
// schedules: 1 with THREADS=2, 1 with THREADS=4
#include <pthread.h>
static void *work(void *place) {
  ++*(int *)place;
  return NULL;
}
int main(void) {
  static int own[THREADS][64];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, own[i]);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}
