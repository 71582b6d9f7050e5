// Returns out of regions, by every way out of a function, with releases that only act for their own acquisition.
// languages: c c++
// stats: none
#include "hooks.h"
__attribute__((noinline)) static int find(int wanted, int depth) {
  FRAME;
  ACQUIRE(0, U, 1);
  if (wanted == 0) {
    RELEASE(0, 1);
    return 0;
  }
  if (depth > 0) {
    int found = find(wanted - 1, depth - 1);
    RELEASE(0, 2);  // acquired on another path: does nothing
    RELEASE(0, 1);
    return found;
  }
  ACQUIRE(0, X, 2);
  for (int i = 0; i < 3; i++) {
    RELEASE(0, 1);  // the newest acquisition is another: does nothing
    if (i == wanted) {
      RELEASE(0, 2);
      return i;
    }
  }
  RELEASE(0, 2);
  return -1;
}
int main(void) {
  for (int wanted = 0; wanted < 9; wanted++) {
    find(wanted, 4);
    CHECK(is_free(0, X));
  }
  return 0;
}
