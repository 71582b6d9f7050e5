// A region held across a condition wait, while the thread that signals needs the lock.
// languages: c c++
// stats: condition=1
#include "hooks.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static volatile int waits;
static void *signaller(void *unused) {
  FRAME;
  await(&waits);
  pthread_mutex_lock(&mutex);  // the waiter is inside the wait now
  ACQUIRE(0, X, 2);
  ready = 1;
  RELEASE(0, 2);
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  FRAME;
  pthread_t thread = start(signaller, 0);
  pthread_mutex_lock(&mutex);
  ACQUIRE(0, X, 1);
  raise_flag(&waits);
  while (!ready) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  RELEASE(0, 1);  // broken: does nothing
  finish(thread);
  return 0;
}
