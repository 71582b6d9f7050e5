// The holder of our lock waits for a mutex whose owner waits for a condition that only the waiter brings about.
// languages: c c++
// stats: blocked=1
// options: inspect_ms=20
#include "hooks.h"
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int held, owned;
static int ready;
static void *owner(void *unused) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&inner);
  FRAME;
  ACQUIRE(1, R, 9);  // has a record
  RELEASE(1, 9);
  raise_flag(&owned);
  while (!ready) pthread_cond_wait(&condition, &inner);
  pthread_mutex_unlock(&inner);
  pthread_mutex_unlock(&outer);
  return unused;
}
static void *holder(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  pthread_mutex_lock(&outer);
  pthread_mutex_unlock(&outer);
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  pthread_t first = start(owner, 0);
  await(&owned);
  pthread_t second = start(holder, 0);
  await(&held);
  doze(10);
  ACQUIRE(0, X, 1);
  RELEASE(0, 1);
  pthread_mutex_lock(&inner);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&inner);
  finish(first);
  finish(second);
  return 0;
}
