// A condition waited for in a loop, as it should be.
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, data;
static void *produce(void *unused) {
  pthread_mutex_lock(&mutex);
  data = 42;
  ready = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, produce, NULL);
  pthread_mutex_lock(&mutex);
  while (!ready) pthread_cond_wait(&changed, &mutex);
  assert(data == 42);
  pthread_mutex_unlock(&mutex);
  pthread_join(t, NULL);
}
