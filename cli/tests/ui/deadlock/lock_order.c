// Two mutexes in two orders.
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&second);
  pthread_mutex_unlock(&first);
  pthread_join(t, NULL);
}
