// Regions before main, after it, and with errno as it was.
// stats: none
#include "hooks.h"
static int entered;
static void region() {
  FRAME;
  errno = 42;
  ACQUIRE(0, U, 1);
  ACQUIRE(0, X, 2);
  entered++;
  RELEASE(0, 2);
  CHECK(errno == 42);
}
__attribute__((constructor(101))) static void early() { region(); }
struct object {
  object() { region(); }
  ~object() {
    region();
    CHECK(entered == 4);
  }
};
static object global;
int main() {
  region();
  CHECK(entered == 3 && is_free(0, X));
  return 0;
}
