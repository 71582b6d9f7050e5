// A holder that shares its processor with hogs, so that its region takes several inspection intervals, but less than one of processor
// time: it keeps the lock.
// languages: c c++
// stats: none
#include "hooks.h"
static volatile int held, done;
static void *hog(void *unused) {
  while (!done) {
  }
  return unused;
}
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  double from = now();
  while (now() - from < 0.4) {
  }
  done = 1;
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  CHECK(!sched_setaffinity(0, sizeof one, &one));
  FRAME;
  pthread_t hogs[5];
  for (int i = 0; i < 5; i++) hogs[i] = start(hog, 0);
  pthread_t thread = start(body, 0);
  await(&held);
  ACQUIRE(0, R, 1);
  CHECK(done);
  RELEASE(0, 1);
  finish(thread);
  for (int i = 0; i < 5; i++) finish(hogs[i]);
  return 0;
}
