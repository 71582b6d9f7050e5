// errno is kept by everything that a hook does: parking, inspecting, revoking, sweeping, being told that the table is full.
// languages: c c++
// stats: spinning|timeout=1
// options: inspect_ms=20
#include "hooks.h"
static volatile int held, flag;
static void *body(void *unused) {
  FRAME;
  errno = 5;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  while (!flag) {
  }
  RELEASE(0, 2);
  CHECK(errno == 5);
  return unused;
}
int main(void) {
  FRAME;
  pthread_t thread = start(body, 0);
  await(&held);
  errno = 78;
  ACQUIRE(0, X, 1);  // waits, inspects, revokes
  CHECK(errno == 78);
  flag = 1;
  ACQUIRE(1, U, 2);
  ACQUIRE(1, X, 3);
  DEGRADE(1, 3);
  __atomfix_unwind(frame);
  CHECK(errno == 78);
  finish(thread);
  CHECK(is_free(0, X) && is_free(1, X));
  return 0;
}
