// As condition.c, with waits and joins inside libstdc++.so, which only interposition sees.
// stats: condition>=1 join=1
#include <condition_variable>
#include <mutex>
#include <thread>
#include "hooks.h"
static std::mutex mutex;
static std::condition_variable condition;
static bool ready;
static volatile int locked, joining;
int main() {
  FRAME;
  std::thread thread([] {
    FRAME;
    await(&locked);
    for (int i = 0; i < 2; i++) {
      std::unique_lock<std::mutex> guard(mutex);
      ACQUIRE(0, X, 2);
      ready = true;
      RELEASE(0, 2);
      condition.notify_one();
      condition.wait(guard, [] { return !ready; });
    }
    await(&joining);
    ACQUIRE(1, X, 3);
    RELEASE(1, 3);
  });
  for (int i = 0; i < 2; i++) {
    std::unique_lock<std::mutex> guard(mutex);
    raise_flag(&locked);
    while (!ready) {
      ACQUIRE(0, X, 1);
      condition.wait(guard);
      RELEASE(0, 1);
    }
    ready = false;
    condition.notify_one();
  }
  ACQUIRE(1, X, 4);
  raise_flag(&joining);
  thread.join();
  RELEASE(1, 4);
  return 0;
}
