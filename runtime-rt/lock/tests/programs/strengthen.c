// Readers that become writers, which checked plans never ask for: neither waits for the other.
// languages: c c++
// stats: strengthened>=1
#include "hooks.h"
static volatile int held[2];
static long total;
static void *body(void *number) {
  int mine = (int)(intptr_t)number;
  FRAME;
  ACQUIRE(0, R, 1);
  raise_flag(&held[mine]);
  await(&held[1 - mine]);
  ACQUIRE(0, X, 2);
  total++;
  RELEASE(0, 2);
  return 0;
}
int main(void) {
  pthread_t first = start(body, (void *)0), second = start(body, (void *)1);
  finish(first);
  finish(second);
  CHECK(total == 2 && is_free(0, X));
  return 0;
}
