// What dlopen.c opens: a constructor, and waits that nothing linked with the program makes.
#include <pthread.h>
#include <semaphore.h>
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int signalled;
__attribute__((constructor)) static void prepare(void) { sem_init(&semaphore, 0, 0); }
void let_go(void) { sem_post(&semaphore); }
void wait_there(void) { sem_wait(&semaphore); }
void signal_there(void) {
  pthread_mutex_lock(&mutex);
  signalled = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}
void wait_signalled(void) {
  pthread_mutex_lock(&mutex);
  while (!signalled) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
}
