// A line whose beginning is there and whose end waits for the lock: nothing is given up, and the first inspection sees a blocked thread.
// languages: c c++
// stats: blocked=1
// options: inspect_ms=20
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
  CHECK(!pipe(ends) && write(ends[1], "g", 1) == 1);
  pthread_t thread = start(body, 0);
  await(&held);
  ACQUIRE(0, X, 1);
  CHECK(write(ends[1], "o\n", 2) == 2);
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
