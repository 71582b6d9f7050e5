// The signal may come before the wait.
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *wake(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, wake, NULL);
  pthread_mutex_lock(&mutex);
  pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(t, NULL);
}
