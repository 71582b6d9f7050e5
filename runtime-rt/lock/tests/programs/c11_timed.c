// C11's waits that end at a time, and an initializer that another thread runs.
// languages: c c++
// stats: condition=1 meet=1 cycle|program-lock=1
#include <threads.h>
#include "hooks.h"
static mtx_t mutex, owned;
static cnd_t condition;
static once_flag once = ONCE_FLAG_INIT;
static volatile int step, begun, held;
static int ready, ran;
static const struct timespec at_last = {4000000000, 0};
static void initialize(void) {
  FRAME;
  raise_flag(&begun);
  ACQUIRE(0, X, 4);
  ran++;
  RELEASE(0, 4);
}
static int other(void *unused) {
  (void)unused;
  FRAME;
  while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != 1) doze(1);
  ACQUIRE(0, X, 2);
  mtx_lock(&mutex);
  ready = 1;
  cnd_signal(&condition);
  mtx_unlock(&mutex);
  RELEASE(0, 2);
  while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != 2) doze(1);
  call_once(&once, initialize);
  while (__atomic_load_n(&step, __ATOMIC_ACQUIRE) != 3) doze(1);
  mtx_lock(&owned);
  raise_flag(&held);
  ACQUIRE(0, X, 3);
  RELEASE(0, 3);
  mtx_unlock(&owned);
  return 0;
}
int main(void) {
  FRAME;
  thrd_t thread;
  CHECK(mtx_init(&mutex, mtx_timed) == thrd_success && mtx_init(&owned, mtx_timed) == thrd_success);
  CHECK(cnd_init(&condition) == thrd_success && thrd_create(&thread, other, 0) == thrd_success);
  mtx_lock(&mutex);
  ACQUIRE(0, X, 1);
  __atomic_store_n(&step, 1, __ATOMIC_RELEASE);
  while (!ready) CHECK(cnd_timedwait(&condition, &mutex, &at_last) == thrd_success);
  mtx_unlock(&mutex);
  ACQUIRE(0, X, 1);
  __atomic_store_n(&step, 2, __ATOMIC_RELEASE);
  await(&begun);
  call_once(&once, initialize);
  CHECK(ran == 1);
  ACQUIRE(0, X, 1);
  __atomic_store_n(&step, 3, __ATOMIC_RELEASE);
  await(&held);
  CHECK(mtx_timedlock(&owned, &at_last) == thrd_success);
  mtx_unlock(&owned);
  RELEASE(0, 1);
  CHECK(thrd_join(thread, 0) == thrd_success);
  return 0;
}
