// A queue under a mutex and a condition; exceptions, containers and thread-local variables work as ever.
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <queue>
#include <stdexcept>
#include <string>
#include <thread>
static std::mutex mutex;
static std::condition_variable changed;
static std::queue<std::string> queue;
static thread_local std::string last = "none";
int main() {
  std::thread consumer([] {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [] { return !queue.empty(); });
    last = queue.front();
    queue.pop();
    assert(last == "a string that is too long to be stored in place");
  });
  try {
    {
      std::lock_guard<std::mutex> lock(mutex);
      queue.push("a string that is too long to be stored in place");
    }
    changed.notify_one();
    throw std::runtime_error("thrown");
  } catch (const std::exception &error) {
    assert(std::string(error.what()) == "thrown");
  }
  consumer.join();
  assert(queue.empty() && last == "none");
}
