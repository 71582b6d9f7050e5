// One writer and THREADS readers of one variable: each reader comes before or after the write.
// schedules: 2 with THREADS=1, 4 with THREADS=2, 8 with THREADS=3, 16 with THREADS=4
#include <pthread.h>
#include <stdatomic.h>
static atomic_int variable;
static void *read_it(void *unused) {
  (void)atomic_load(&variable);
  return unused;
}
static void *write_it(void *unused) {
  atomic_store(&variable, 1);
  return unused;
}
int main(void) {
  pthread_t threads[THREADS + 1];
  pthread_create(&threads[0], NULL, write_it, NULL);
  for (int i = 1; i <= THREADS; i++) pthread_create(&threads[i], NULL, read_it, NULL);
  for (int i = 0; i <= THREADS; i++) pthread_join(threads[i], NULL);
}
