// exit from inside a region in a thread: destructors of globals run regions of their own, also of the lock that is held.
// stats: none
#include <cstdlib>
#include <thread>
#include "hooks.h"
static volatile int held;
struct object {
  ~object() {
    FRAME;
    ACQUIRE(0, X, 3);
    ACQUIRE(1, X, 3);
    RELEASE(1, 3);
    RELEASE(0, 3);
  }
};
static object global;
int main() {
  (void)&global;
  std::thread thread([] {
    FRAME;
    ACQUIRE(0, X, 1);
    raise_flag(&held);
    std::exit(0);
  });
  thread.detach();
  for (;;) doze(1000);
}
