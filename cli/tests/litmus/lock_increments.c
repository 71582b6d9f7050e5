// THREADS threads add under one mutex: as many schedules as there are orders.
// schedules: 2 with THREADS=2, 6 with THREADS=3, 24 with THREADS=4, 120 with THREADS=5
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *work(void *unused) {
  pthread_mutex_lock(&mutex);
  counter++;
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  return counter - THREADS;
}
