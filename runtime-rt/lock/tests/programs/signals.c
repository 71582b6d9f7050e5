// Handlers that run regions of their own, again and again, in threads that are inside regions or inside hooks.
// languages: c c++
// stats: any
#include <signal.h>
#include "hooks.h"
static long counts[2];
static void handler(int signal) {
  (void)signal;
  FRAME;
  int before = errno;
  ACQUIRE(0, X, 5);
  ACQUIRE(1, R, 6);
  RELEASE(1, 6);
  RELEASE(0, 5);
  errno = before;
}
static void *body(void *unused) {
  for (int i = 0; i < 20000; i++) {
    FRAME;
    int n = i % 2;
    ACQUIRE(n, X, 1);
    // A handler that ran in this thread entered without waiting; another thread's holds still exclude.
    counts[n] += 1;
    RELEASE(n, 1);
  }
  return unused;
}
int main(void) {
  signal(SIGUSR1, handler);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) threads[i] = start(body, 0);
  for (int i = 0; i < 600; i++) {
    // Threads end while we send: they stay joinable, so the handles are good.
    pthread_kill(threads[i % 3], SIGUSR1);
    if (i % 8 == 0) doze(1);
  }
  for (int i = 0; i < 3; i++) finish(threads[i]);
  CHECK(counts[0] == 30000 && counts[1] == 30000 && is_free(0, X) && is_free(1, X));
  return 0;
}
