// Compatible holds in a deadlock that the order of arrival alone would make: the reader that owns the mutex passes the queue.
// languages: c c++
// stats: none
// options: inspect_ms=30
#include "hooks.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int held, owned;
static void *holder(void *unused) {
  FRAME;
  ACQUIRE(0, R, 1);
  raise_flag(&held);
  await(&owned);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  RELEASE(0, 1);
  return unused;
}
static void *owner(void *unused) {
  FRAME;
  await(&held);
  pthread_mutex_lock(&mutex);
  raise_flag(&owned);
  doze(10);  // the writer queues and is overdue
  ACQUIRE(0, R, 2);
  RELEASE(0, 2);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void *writer(void *unused) {
  FRAME;
  await(&owned);
  ACQUIRE(0, X, 3);
  RELEASE(0, 3);
  return unused;
}
int main(void) {
  pthread_t threads[] = {start(holder, 0), start(owner, 0), start(writer, 0)};
  for (int i = 0; i < 3; i++) finish(threads[i]);
  return 0;
}
