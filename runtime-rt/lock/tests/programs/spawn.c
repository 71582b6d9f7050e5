// vfork and posix_spawn from inside a region.
// languages: c c++
// stats: none
#include <spawn.h>
#include <sys/wait.h>
#include "hooks.h"
extern char **environ;
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  char *arguments[] = {(char *)"true", 0};
  pid_t child;
  int status;
  CHECK(!posix_spawnp(&child, "true", 0, 0, arguments, environ));
  CHECK(syscall(SYS_wait4, child, &status, 0, 0) == child && status == 0);
  child = vfork();
  if (child == 0) _exit(0);
  CHECK(syscall(SYS_wait4, child, &status, 0, 0) == child && status == 0);
  CHECK(is_held(0, R));
  RELEASE(0, 1);
  CHECK(is_free(0, X));
  return 0;
}
