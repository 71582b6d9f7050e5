// A region that spins on a flag which another thread sets under the lock.
// languages: c c++
// stats: spinning|timeout=1
// options: inspect_ms=20
#include "hooks.h"
static volatile int held, flag;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  while (!flag) {
  }
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  pthread_t thread = start(body, 0);
  await(&held);
  ACQUIRE(0, X, 1);
  flag = 1;
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
