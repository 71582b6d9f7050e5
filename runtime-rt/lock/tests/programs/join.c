// A region held across the join of a thread that needs the lock.
// languages: c c++
// stats: join=1
#include "hooks.h"
static void *body(void *go) {
  FRAME;
  await((volatile int *)go);
  ACQUIRE(0, R, 2);
  RELEASE(0, 2);
  return 0;
}
int main(void) {
  FRAME;
  static volatile int go;
  pthread_t thread = start(body, (void *)&go);
  ACQUIRE(0, X, 1);
  raise_flag(&go);
  finish(thread);
  RELEASE(0, 1);
  CHECK(is_free(0, X));
  return 0;
}
