// A mutex locked twice by one thread.
#include <pthread.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_lock(&mutex);
}
