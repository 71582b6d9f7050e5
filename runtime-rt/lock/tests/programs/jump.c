// longjmp, by each of its names, ends the holds of the frames that it leaves, and only those.
// languages: c c++
// stats: none
#include <setjmp.h>
#include <signal.h>
#include "hooks.h"
#include "by_name.h"
BY_NAME(void, longjmp, jmp_buf, int) __attribute__((noreturn));
BY_NAME(void, _longjmp, jmp_buf, int) __attribute__((noreturn));
BY_NAME(void, siglongjmp, sigjmp_buf, int) __attribute__((noreturn));
BY_NAME(void, __longjmp_chk, jmp_buf, int) __attribute__((noreturn));
static jmp_buf here;
static sigjmp_buf there;
static volatile int way;
__attribute__((noinline)) static void deep(int depth) {
  FRAME;
  ACQUIRE(0, X, 1);
  if (depth == 0) {
    switch (way) {
      case 0: call_longjmp(here, 1);
      case 1: call__longjmp(here, 1);
      default: call___longjmp_chk(here, 1);
    }
  }
  deep(depth - 1);
  RELEASE(0, 1);
}
static void handler(int signal) {
  (void)signal;
  call_siglongjmp(there, 1);
}
__attribute__((noinline)) static void interrupted(void) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise(SIGUSR1);
  abort();
}
int main(void) {
  FRAME;
  ACQUIRE(1, X, 3);
  for (int i = 0; i < 3; i++) {
    way = i;
    if (!setjmp(here)) deep(3);
    CHECK(is_free(0, X) && is_held(1, R));
  }
  signal(SIGUSR1, handler);
  for (int i = 0; i < 3; i++) {
    if (!sigsetjmp(there, 1)) interrupted();
    CHECK(is_free(0, X));
  }
  CHECK(is_held(1, R));
  RELEASE(1, 3);
  CHECK(is_free(1, X));
  return 0;
}
