// A wait that nothing shows (a system call without libc): patience runs out at the 50th inspection.
// languages: c c++
// stats: timeout=1
// options: inspect_ms=5
#include "hooks.h"
static int ends[2];
static volatile int held;
static void *body(void *unused) {
  FRAME;
  char byte;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  CHECK(syscall(SYS_read, ends[0], &byte, 1) == 1 && byte == 'g');
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  CHECK(!pipe(ends));
  pthread_t thread = start(body, 0);
  await(&held);
  double before = now();
  ACQUIRE(0, X, 1);
  CHECK(now() - before > 0.2);
  CHECK(write(ends[1], "g", 1) == 1);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
