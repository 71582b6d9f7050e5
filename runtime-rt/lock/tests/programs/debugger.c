// A holder that a debugger stops for many inspection intervals, while the thread that waits for it runs: it keeps the lock.
// languages: c c++
// stats: none
// options: inspect_ms=20
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include "hooks.h"
struct shared {
  volatile int holder, waits, go_on, done;
};
static struct shared *shared;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  __atomic_store_n(&shared->holder, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  await(&shared->go_on);
  raise_flag(&shared->done);
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  shared = (struct shared *)mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    FRAME;
    pthread_t thread = start(body, 0);
    await(&shared->holder);
    raise_flag(&shared->waits);
    ACQUIRE(0, X, 1);
    CHECK(shared->done);
    RELEASE(0, 1);
    finish(thread);
    return 0;
  }
  await(&shared->waits);
  int status, holder = shared->holder;
  CHECK(!ptrace(PTRACE_SEIZE, holder, 0, 0) && !ptrace(PTRACE_INTERRUPT, holder, 0, 0));
  CHECK(waitpid(holder, &status, __WALL) == holder && WIFSTOPPED(status));
  raise_flag(&shared->go_on);
  doze(300);
  CHECK(!shared->done && !ptrace(PTRACE_DETACH, holder, 0, 0));
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}
