// C11 threads: regions held across a condition wait, a sleep and a join; a mutex in a cycle with an injected lock.
// stats: condition=1 join=1 sleep=1 cycle=1
// options: inspect_ms=20
#include <threads.h>
#include "hooks.h"
static mtx_t mutex, other;
static cnd_t condition;
static int ready;
static volatile int waits, held;
static int signaller(void *unused) {
  (void)unused;
  FRAME;
  await(&waits);
  mtx_lock(&mutex);
  ACQUIRE(0, X, 2);
  ready = 1;
  RELEASE(0, 2);
  cnd_signal(&condition);
  mtx_unlock(&mutex);
  ACQUIRE(1, X, 3);
  RELEASE(1, 3);
  thrd_exit(7);
}
static int taker(void *unused) {
  (void)unused;
  FRAME;
  ACQUIRE(2, X, 4);
  raise_number(&held);
  mtx_lock(&other);
  mtx_unlock(&other);
  RELEASE(2, 4);
  return 0;
}
int main(void) {
  FRAME;
  thrd_t thread;
  int result;
  CHECK(mtx_init(&mutex, mtx_plain) == thrd_success && mtx_init(&other, mtx_plain) == thrd_success);
  CHECK(cnd_init(&condition) == thrd_success);
  CHECK(thrd_create(&thread, signaller, 0) == thrd_success);
  mtx_lock(&mutex);
  ACQUIRE(0, X, 1);
  raise_flag(&waits);
  while (!ready) cnd_wait(&condition, &mutex);
  mtx_unlock(&mutex);
  ACQUIRE(1, X, 1);
  CHECK(thrd_join(thread, &result) == thrd_success && result == 7);
  ACQUIRE(1, X, 1);
  thrd_sleep(&(struct timespec){.tv_nsec = 1000000}, 0);
  CHECK(is_free(1, X));
  mtx_lock(&other);
  CHECK(thrd_create(&thread, taker, 0) == thrd_success);
  await_asleep(&held);
  ACQUIRE(2, X, 1);
  mtx_unlock(&other);
  RELEASE(2, 1);
  CHECK(thrd_join(thread, 0) == thrd_success);
  return 0;
}
