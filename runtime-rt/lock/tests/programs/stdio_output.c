// Streams that write to a pipe which is full: holds are given up until somebody reads. With room in it, nothing is.
// languages: c c++
// stats: stream=3
#include <fcntl.h>
#include "hooks.h"
static int ends[2];
static volatile int go, all;
static void *body(void *unused) {
  FRAME;
  static char space[65536];
  for (int i = 1; i <= 3; i++) {
    while (go != i) doze(1);
    ACQUIRE(0, X, 2);
    CHECK(read(ends[0], space, sizeof space) > 0);
    RELEASE(0, 2);
  }
  while (!all) CHECK(read(ends[0], space, sizeof space) > 0);
  return unused;
}
static void fill(void) {
  static char space[4096];
  CHECK(!fcntl(ends[1], F_SETFL, O_NONBLOCK));
  while (write(ends[1], space, sizeof space) > 0) {
  }
  CHECK(!fcntl(ends[1], F_SETFL, 0));
}
int main(void) {
  FRAME;
  CHECK(!pipe(ends));
  FILE *out = fdopen(ends[1], "w");
  pthread_t thread = start(body, 0);
  ACQUIRE(1, X, 1);
  CHECK(fprintf(out, "%d %f\n", 1, 2.5) == 11 && !fflush(out) && fputs("x\n", out) >= 0 && !fflush(out));
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  for (int i = 1; i <= 3; i++) {
    fill();
    ACQUIRE(0, X, 1);
    go = i;
    switch (i) {
      case 1: CHECK(fputs("line\n", out) >= 0 && !fflush(out)); break;
      case 2: CHECK(fprintf(out, "%s %d %d %d %d %f\n", "line", 1, 2, 3, 4, 5.5) == 22 && !fflush(out)); break;
      default: CHECK(fwrite("line\n", 1, 5, out) == 5 && !fflush(out));
    }
    RELEASE(0, 1);
  }
  all = 1;
  CHECK(write(ends[1], "z", 1) == 1);
  finish(thread);
  return 0;
}
