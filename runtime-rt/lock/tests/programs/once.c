// A region held across pthread_once, whose initializer, in another thread, needs the lock; and C++'s and ours inside one.
// languages: c c++
// stats: meet=1
#include "hooks.h"
static pthread_once_t once = PTHREAD_ONCE_INIT;
static volatile int inside, waits;
static int made;
static void make(void) {
  FRAME;
  raise_flag(&inside);
  await(&waits);
  doze(10);
  ACQUIRE(0, X, 2);
  made++;
  RELEASE(0, 2);
}
static void *body(void *unused) {
  CHECK(!pthread_once(&once, make));
  return unused;
}
int main(void) {
  FRAME;
  pthread_t thread = start(body, 0);
  await(&inside);
  ACQUIRE(0, X, 1);
  raise_flag(&waits);
  CHECK(!pthread_once(&once, make) && made == 1);
  RELEASE(0, 1);
  ACQUIRE(0, X, 1);
  CHECK(!pthread_once(&once, make));
  CHECK(is_held(0, R));
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
