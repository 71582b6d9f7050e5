// C11's mutex as the program makes it itself from POSIX's: its functions stand before ours.
// outcomes: 2
#include <pthread.h>
#include <stdio.h>
int mtx_lock(pthread_mutex_t *mutex) { return pthread_mutex_lock(mutex); }
int mtx_unlock(pthread_mutex_t *mutex) { return pthread_mutex_unlock(mutex); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void *add(void *unused) {
  (void)unused;
  mtx_lock(&mutex);
  n++;
  mtx_unlock(&mutex);
  return NULL;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, add, NULL);
  add(NULL);
  pthread_join(thread, NULL);
  printf("%d\n", n);
}
