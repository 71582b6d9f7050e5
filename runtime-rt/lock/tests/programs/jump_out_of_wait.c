// A signal handler jumps out of a thread that is waiting for a lock: it waits no more, and works on.
// languages: c c++
// stats: none
#include <setjmp.h>
#include <signal.h>
#include "hooks.h"
static sigjmp_buf there;
static volatile int ready, out, go;
static void handler(int signal) {
  (void)signal;
  siglongjmp(there, 1);
}
__attribute__((noinline)) static void enter(void) {
  FRAME;
  ACQUIRE(0, X, 2);
  RELEASE(0, 2);
}
static void *body(void *unused) {
  if (!sigsetjmp(there, 1)) {
    raise_flag(&ready);
    enter();
    abort();
  }
  FRAME;
  ACQUIRE(1, X, 3);
  RELEASE(1, 3);
  raise_flag(&out);
  await(&go);
  enter();
  return unused;
}
int main(void) {
  FRAME;
  signal(SIGUSR1, handler);
  ACQUIRE(0, X, 1);
  pthread_t thread = start(body, 0);
  await(&ready);
  doze(10);
  pthread_kill(thread, SIGUSR1);
  await(&out);
  RELEASE(0, 1);
  raise_flag(&go);
  finish(thread);
  CHECK(is_free(0, X));
  return 0;
}
