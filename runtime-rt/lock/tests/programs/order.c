// Two locks in both orders: one of the holds is revoked, once.
// languages: c c++
// stats: cycle>=1
// options: inspect_ms=20
#include "hooks.h"
static volatile int held[2];
static long total;
static void *body(void *number) {
  int mine = (int)(intptr_t)number;
  FRAME;
  ACQUIRE(mine, X, 1);
  raise_flag(&held[mine]);
  await(&held[1 - mine]);
  ACQUIRE(1 - mine, X, 2);
  __atomic_add_fetch(&total, 1, __ATOMIC_RELAXED);
  RELEASE(1 - mine, 2);
  RELEASE(mine, 1);
  return 0;
}
int main(void) {
  pthread_t first = start(body, (void *)0), second = start(body, (void *)1);
  finish(first);
  finish(second);
  CHECK(total == 2 && is_free(0, X) && is_free(1, X));
  return 0;
}
