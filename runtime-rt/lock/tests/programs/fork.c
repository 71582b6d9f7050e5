// A child has its own thread's holds and nobody else's; the parent's are untouched.
// languages: c c++
// stats: none
#include <sys/wait.h>
#include "hooks.h"
static volatile int held, go;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  ACQUIRE(1, R, 2);
  raise_flag(&held);
  await(&go);
  RELEASE(1, 2);
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  pthread_t thread = start(body, 0);
  await(&held);
  ACQUIRE(2, X, 1);
  ACQUIRE(3, R, 1);
  pid_t child = fork();
  if (child == 0) {
    ACQUIRE(0, X, 3);
    ACQUIRE(1, X, 3);
    RELEASE(1, 3);
    RELEASE(0, 3);
    CHECK(is_free(0, X) && is_free(1, X) && is_held(2, R) && is_held(3, X) && is_free(3, R));
    RELEASE(2, 1);
    RELEASE(3, 1);
    CHECK(is_free(2, X) && is_free(3, X));
    return 0;
  }
  int status;
  CHECK(syscall(SYS_wait4, child, &status, 0, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(is_held(0, R) && is_held(1, X) && is_held(2, R));
  raise_flag(&go);
  RELEASE(2, 1);
  RELEASE(3, 1);
  finish(thread);
  CHECK(is_free(0, X) && is_free(1, X) && is_free(2, X) && is_free(3, X));
  return 0;
}
