// std::this_thread::sleep_for, condition variables with time-outs, and std::async.
// stats: sleep=1 condition>=1 join=1
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include "hooks.h"
int main() {
  FRAME;
  using namespace std::chrono_literals;
  ACQUIRE(0, X, 1);
  std::this_thread::sleep_for(1ms);
  CHECK(is_free(0, X));
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> guard(mutex);
  ACQUIRE(1, X, 2);
  CHECK(condition.wait_for(guard, 1ms) == std::cv_status::timeout);
  CHECK(is_free(1, X));
  auto result = std::async(std::launch::async, [] {
    doze(20);
    FRAME;
    ACQUIRE(2, X, 3);
    RELEASE(2, 3);
    return 4;
  });
  ACQUIRE(2, X, 4);
  CHECK(result.get() == 4);
  return 0;
}
