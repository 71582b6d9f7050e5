// exit from a thread inside a region, while others wait for it.
// languages: c c++
// stats: none
#include "hooks.h"
static volatile int held;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  doze(5);
  exit(0);
  return unused;
}
static void at_exit(void) {
  FRAME;
  ACQUIRE(1, X, 3);
  RELEASE(1, 3);
}
int main(void) {
  FRAME;
  atexit(at_exit);
  start(body, 0);
  await(&held);
  ACQUIRE(0, X, 1);
  abort();
}
