// A process that is stopped for longer than a holder's patience: nobody loses anything.
// languages: c c++
// stats: none
// options: inspect_ms=5
#include <signal.h>
#include <sys/wait.h>
#include "hooks.h"
static int ready[2];
static volatile int held;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  CHECK(syscall(SYS_write, ready[1], "r", 1) == 1);
  // Until the clock has jumped.
  double before = now(), after;
  while ((after = now()) - before < 0.2) {
    before = after;
    doze(2);
  }
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  CHECK(!pipe(ready));
  pid_t child = fork();
  if (child == 0) {
    pthread_t thread = start(body, 0);
    await(&held);
    ACQUIRE(0, X, 1);
    RELEASE(0, 1);
    finish(thread);
    return 0;
  }
  char byte;
  CHECK(read(ready[0], &byte, 1) == 1);
  doze(20);
  kill(child, SIGSTOP);
  doze(400);
  kill(child, SIGCONT);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}
