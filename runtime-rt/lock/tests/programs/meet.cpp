// C++20's semaphore, latch, barrier and atomic wait, and a future: they wait in futex calls of their own.
// stats: meet>=5
#include <atomic>
#include <barrier>
#include <future>
#include <latch>
#include <semaphore>
#include <thread>
#include "hooks.h"
static std::counting_semaphore<8> semaphore(0);
static std::latch latch(1);
static std::barrier<> barrier(2);
static std::atomic<int> word, go;
static std::promise<int> promise;
int main() {
  FRAME;
  std::thread thread([] {
    FRAME;
    for (int i = 1; i <= 5; i++) {
      while (go.load() != i) doze(1);
      doze(5);  // the other one is waiting by now, beyond its short spin
      ACQUIRE(0, X, 2);
      switch (i) {
        case 1: semaphore.release(); break;
        case 2: latch.count_down(); break;
        case 3: word.store(1); word.notify_all(); break;
        case 4: promise.set_value(3); break;
        default: break;
      }
      RELEASE(0, 2);
      if (i == 5) barrier.arrive_and_wait();
    }
  });
  auto future = promise.get_future();
  for (int i = 1; i <= 5; i++) {
    ACQUIRE(0, X, 1);
    go.store(i);
    switch (i) {
      case 1: semaphore.acquire(); break;
      case 2: latch.wait(); break;
      case 3: word.wait(0); break;
      case 4: CHECK(future.get() == 3); break;
      default: barrier.arrive_and_wait();
    }
    RELEASE(0, 1);
  }
  thread.join();
  return 0;
}
