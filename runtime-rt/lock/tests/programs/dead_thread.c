// A thread that ends without any of its ways out.
// languages: c c++
// stats: dead-thread=2
// options: inspect_ms=20
#include "hooks.h"
static volatile int held;
static void *body(void *mode) {
  FRAME;
  ACQUIRE(0, (uint32_t)(uintptr_t)mode, 2);
  raise_flag(&held);
  syscall(SYS_exit, 0);
  return 0;
}
int main(void) {
  FRAME;
  uintptr_t modes[] = {R, X};
  for (int i = 0; i < 2; i++) {
    held = 0;
    start(body, (void *)modes[i]);
    await(&held);
    ACQUIRE(0, X, 1);
    RELEASE(0, 1);
  }
  return 0;
}
