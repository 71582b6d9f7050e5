// abort inside a region, with a handler that runs a region of its own: the process dies of it, and prints nothing.
// languages: c c++
// stats: silent
// status: 134
#include <signal.h>
#include <sys/resource.h>
#include "hooks.h"
static void handler(int signal) {
  (void)signal;
  FRAME;
  ACQUIRE(1, X, 2);
  RELEASE(1, 2);
}
int main(void) {
  FRAME;
  struct rlimit none = {0, 0};
  CHECK(!setrlimit(RLIMIT_CORE, &none));
  signal(SIGABRT, handler);
  ACQUIRE(0, X, 1);
  ACQUIRE(1, R, 1);
  abort();
}
