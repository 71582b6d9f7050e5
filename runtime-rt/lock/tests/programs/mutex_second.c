// The holder of our lock waits for a mutex; its owner then wants the lock: revoked at the first inspection.
// languages: c c++
// stats: cycle=1
// options: inspect_ms=20
#include "hooks.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int held;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_number(&held);
  pthread_mutex_lock(&mutex);
  RELEASE(0, 2);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  FRAME;
  pthread_mutex_lock(&mutex);
  pthread_t thread = start(body, 0);
  await_asleep(&held);
  ACQUIRE(0, X, 1);
  pthread_mutex_unlock(&mutex);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
