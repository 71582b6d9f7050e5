// Exceptions through held regions: the cleanup that injection adds calls the unwind hook.
// stats: none
#include <stdexcept>
#include "hooks.h"
struct cleanup {
  void *frame;
  ~cleanup() { __atomfix_unwind(frame); }
};
static void thrower(int depth) {
  FRAME;
  cleanup guard{frame};
  ACQUIRE(0, X, 1);
  ACQUIRE(1, R, 2);
  if (depth == 0) throw std::runtime_error("out");
  thrower(depth - 1);
}
int main() {
  FRAME;
  ACQUIRE(2, R, 3);
  try {
    thrower(3);
  } catch (const std::exception &) {
  }
  CHECK(is_free(0, X) && is_free(1, X) && is_held(2, X));
  RELEASE(2, 3);
  CHECK(is_free(2, X));
  return 0;
}
