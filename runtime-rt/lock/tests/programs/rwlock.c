// The holder of our lock waits to write a reader-writer lock; a reader of it then wants our lock.
// languages: c c++
// stats: cycle=1
// options: inspect_ms=20
#include "hooks.h"
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int held;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_number(&held);
  pthread_rwlock_wrlock(&rwlock);
  RELEASE(0, 2);
  pthread_rwlock_unlock(&rwlock);
  return unused;
}
int main(void) {
  FRAME;
  ACQUIRE(1, R, 9);  // has a record, so that what it reads is known
  RELEASE(1, 9);
  pthread_rwlock_rdlock(&rwlock);
  pthread_t thread = start(body, 0);
  await_asleep(&held);
  ACQUIRE(0, X, 1);
  pthread_rwlock_unlock(&rwlock);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
