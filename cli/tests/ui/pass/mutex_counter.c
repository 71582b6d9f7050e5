// A counter under a mutex.
#include <assert.h>
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
  pthread_t t, u;
  pthread_create(&t, NULL, work, NULL);
  pthread_create(&u, NULL, work, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  assert(counter == 2);
}
