// The owner of a mutex waits for our lock; its holder then wants the mutex: it gives up at once, without any inspection.
// languages: c c++
// stats: program-lock=1
// options: inspect_ms=2000
#include "hooks.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int owned;
static void *body(void *unused) {
  FRAME;
  pthread_mutex_lock(&mutex);
  raise_flag(&owned);
  ACQUIRE(0, X, 2);
  RELEASE(0, 2);
  pthread_mutex_unlock(&mutex);
  return unused;
}
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  pthread_t thread = start(body, 0);
  await(&owned);
  doze(20);
  double before = now();
  pthread_mutex_lock(&mutex);
  CHECK(now() - before < 1);
  pthread_mutex_unlock(&mutex);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
