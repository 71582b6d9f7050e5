// A program with functions of its own that have names of libc's: they are the ones that it calls.
// languages: c c++
// stats: none
#include "hooks.h"
int connect(const char *name, int depth);
long send(long value);
__attribute__((noinline)) int connect(const char *name, int depth) { return (int)strlen(name) + depth; }
__attribute__((noinline)) long send(long value) { return value * 2; }
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  CHECK(connect("four", 3) == 7 && send(21) == 42);
  RELEASE(0, 1);
  CHECK(is_free(0, X));
  return 0;
}
