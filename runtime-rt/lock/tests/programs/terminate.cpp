// An exception that nobody catches, thrown inside a region of a thread while main waits for the lock: the process dies of it.
// stats: silent
// status: 134
// stderr: terminate called after throwing an instance of 'int'
#include <sys/resource.h>
#include <thread>
#include "hooks.h"
static volatile int held;
int main() {
  FRAME;
  rlimit none{};
  CHECK(!setrlimit(RLIMIT_CORE, &none));
  std::thread thread([] {
    FRAME;
    ACQUIRE(0, X, 1);
    raise_flag(&held);
    doze(5);
    throw 1;
  });
  await(&held);
  ACQUIRE(0, X, 2);
  thread.join();
}
