// exit while another thread holds a lock that a handler of exit wants: it waits for the inspection that finds the holder spinning.
// languages: c c++
// stats: spinning|timeout=1
// options: inspect_ms=20
#include "hooks.h"
static volatile int held;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  for (;;) {
  }
  return unused;
}
static void at_exit(void) {
  FRAME;
  ACQUIRE(0, X, 3);
  RELEASE(0, 3);
}
int main(void) {
  atexit(at_exit);
  start(body, 0);
  await(&held);
  return 0;
}
