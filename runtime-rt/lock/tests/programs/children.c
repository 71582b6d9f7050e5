// Regions held across waits for processes, which wait for a thread that needs the lock.
// languages: c c++
// stats: poll=7
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "takes_turns.h"
enum { CALLS = 7 };
static int ends[CALLS + 1][2];
static void let_go(int call) { CHECK(!close(ends[call][1])); }
static void leave_only(int call) {
  for (int i = 1; i <= CALLS; i++) {
    if (i != call) close(ends[i][0]);
    close(ends[i][1]);
  }
}
// A child that ends when the other thread lets it.
static pid_t child_of(int call) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    char byte;
    leave_only(call);
    _exit(read(ends[call][0], &byte, 1) == 0 ? 0 : 1);
  }
  return child;
}
static void wait_in(int call) {
  char command[60];
  int status = 0;
  struct rusage usage;
  siginfo_t information;
  memset(&information, 0, sizeof information);
  pid_t child = call < 6 ? child_of(call) : 0;
  // `cat` ends with its input.
  snprintf(command, sizeof command, "cat <&%d >/dev/null", ends[call][0]);
  switch (call) {
    case 1: CHECK(wait(&status) == child); break;
    case 2: CHECK(waitpid(child, &status, WNOHANG) == 0 && waitpid(child, &status, 0) == child); break;
    case 3: CHECK(wait3(&status, 0, &usage) == child); break;
    case 4: CHECK(wait4(child, &status, 0, &usage) == child); break;
    case 5: CHECK(!waitid(P_PID, (id_t)child, &information, WEXITED) && information.si_pid == child); break;
    case 6: status = system(command); break;
    default: {
      FILE *pipe = popen(command, "r");
      CHECK(pipe);
      status = pclose(pipe);
    }
  }
  CHECK(status == 0);
}
int main(void) {
  // Only `system` and `popen` run other programs, which must not keep the writing ends; this program's children close them.
  // Shells know descriptors of one digit.
  for (int i = CALLS; i >= 1; i--) {
    CHECK(!pipe(ends[i]) && (i < 6 || ends[i][0] < 10));
    CHECK(!fcntl(ends[i][1], F_SETFD, FD_CLOEXEC));
  }
  take_turns(CALLS, wait_in);
  return 0;
}
