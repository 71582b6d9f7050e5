// std::mutex, std::timed_mutex, std::shared_mutex and std::recursive_mutex in cycles with injected locks: each is broken once, at an
// inspection.
// stats: cycle=4
// options: inspect_ms=20
#include <mutex>
#include <shared_mutex>
#include <thread>
#include "hooks.h"
template <typename Mutex> static void cycle(int n) {
  static Mutex mutex;
  static volatile int held;
  FRAME;
  mutex.lock();
  std::thread thread([n] {
    FRAME;
    ACQUIRE(n, X, 2);
    raise_number(&held);
    std::lock_guard<Mutex> guard(mutex);
    RELEASE(n, 2);
  });
  await_asleep(&held);
  ACQUIRE(n, X, 1);
  mutex.unlock();
  RELEASE(n, 1);
  thread.join();
}
int main() {
  cycle<std::mutex>(0);
  cycle<std::timed_mutex>(1);
  cycle<std::shared_mutex>(2);
  cycle<std::recursive_mutex>(3);
  return 0;
}
