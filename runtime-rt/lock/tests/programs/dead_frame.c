// A frame left without a trace (a jump that no function makes): its hold ends at the thread's next acquire.
// languages: c c++
// stats: dead-frame=1
#include "hooks.h"
static void *target[5];
__attribute__((noinline)) static void leaves(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  __builtin_longjmp(target, 1);
}
__attribute__((noinline)) static void pad(void (*inner)(void)) {
  char space[4096];
  __asm__ volatile("" : : "r"(space) : "memory");
  inner();
  __asm__ volatile("" : : "r"(space) : "memory");
}
int main(void) {
  FRAME;
  ACQUIRE(1, R, 2);
  if (!__builtin_setjmp(target)) pad(leaves);
  CHECK(is_held(0, R));
  ACQUIRE(2, R, 3);
  CHECK(is_free(0, X) && is_held(1, X));
  return 0;
}
