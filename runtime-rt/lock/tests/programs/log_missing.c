// A log that cannot be opened is named before `main`, and its counters go to standard error.
// languages: c c++
// options: log=/nowhere/log
// stderr: atomfix: ATOMFIX_OPTIONS: counters go to standard error at exit, since nothing can be written to '/nowhere/log'
// stats: none
#include "hooks.h"
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  RELEASE(0, 1);
  return 0;
}
