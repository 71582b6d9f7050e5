// C++20: waiting on an atomic, a latch and a semaphore. The notification is missing.
// flags: -std=c++20
// options: --preemptions 1
#include <atomic>
#include <semaphore>
#include <thread>
static std::atomic<int> value;
static std::counting_semaphore<2> semaphore(0);
int main() {
  std::thread setter([] {
    value.store(1);
    if (value.load() == 2) value.notify_one();
    semaphore.release();
  });
  value.wait(0);
  semaphore.acquire();
  setter.join();
}
