// A wait that nothing shows (stdio reads inside libc): patience runs out at the 50th inspection.
// stats: timeout=1
// options: inspect_ms=5
#include "hooks.h"
static int ends[2];
static volatile int held;
static void *body(void *unused) {
  FRAME;
  char line[8];
  FILE *file = fdopen(ends[0], "r");
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  CHECK(fgets(line, sizeof line, file) && !strcmp(line, "go\n"));
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  CHECK(!pipe(ends));
  pthread_t thread = start(body, 0);
  await(&held);
  double before = now();
  ACQUIRE(0, X, 1);
  CHECK(now() - before > 0.2);
  CHECK(write(ends[1], "go\n", 3) == 3);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
