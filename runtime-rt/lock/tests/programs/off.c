// Locks that are switched off by name and by number; an option that nobody knows is warned of.
// languages: c c++
// stats: none
// options: off=first:off=lock2:nonsense=1
// stderr: atomfix: ATOMFIX_OPTIONS: not understood: 'nonsense=1'
#include "hooks.h"
int main(void) {
  FRAME;
  for (int n = 0; n < 4; n++) ACQUIRE(n, X, 1);
  CHECK(is_free(0, X) && is_held(1, R) && is_free(2, X) && is_held(3, R));
  DEGRADE(0, 1);
  for (int n = 0; n < 4; n++) RELEASE(n, 1);
  CHECK(is_free(1, X) && is_free(3, X));
  return 0;
}
