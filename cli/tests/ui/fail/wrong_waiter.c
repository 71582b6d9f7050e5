// One signal, two waiters for different things: the wrong one may be woken. Which one is a choice of the strategy's.
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int state;
static void *wait_for_one(void *unused) {
  pthread_mutex_lock(&mutex);
  while (state != 1) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void *wait_for_any(void *unused) {
  pthread_mutex_lock(&mutex);
  while (state == 0) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, wait_for_one, NULL);
  pthread_create(&u, NULL, wait_for_any, NULL);
  pthread_mutex_lock(&mutex);
  state = 2;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(u, NULL);
  pthread_mutex_lock(&mutex);
  state = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(t, NULL);
}
