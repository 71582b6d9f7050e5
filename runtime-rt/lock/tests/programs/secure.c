// A process with more rights than its user (here: one whose auxiliary vector says so) reads no options: no lock is off, and neither
// statistics nor a log are written.
// languages: c c++
// stats: silent
// options: off=1:nonsense=1
#include <sys/auxv.h>
#include "hooks.h"
// The archive's only question to the auxiliary vector; declared by the header as it has to be.
unsigned long getauxval(unsigned long type) { return type == AT_SECURE; }
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  CHECK(is_held(0, R));
  RELEASE(0, 1);
  return 0;
}
