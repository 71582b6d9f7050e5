// Two threads each hold a lock, try the other one's, and back off: for ever, when they keep in step.
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static void both(pthread_mutex_t *own, pthread_mutex_t *other) {
  pthread_mutex_lock(own);
  while (pthread_mutex_trylock(other)) {
    pthread_mutex_unlock(own);
    pthread_mutex_lock(own);
  }
  pthread_mutex_unlock(other);
  pthread_mutex_unlock(own);
}
static void *work(void *unused) {
  both(&b, &a);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  both(&a, &b);
  pthread_join(t, NULL);
}
