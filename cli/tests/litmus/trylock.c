// A thread that holds a lock, and one that tries it: before, within or after.
// schedules: 3 with THREADS=2
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *hold(void *unused) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void *try_it(void *unused) {
  if (!pthread_mutex_trylock(&mutex)) pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, hold, NULL);
  pthread_create(&u, NULL, try_it, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
}
