// Cancellation unwinds C++ frames through interposed calls; thread-local destructors run regions of their own.
// stats: condition=1
#include <condition_variable>
#include <mutex>
#include <thread>
#include "hooks.h"
static std::mutex mutex;
static std::condition_variable condition;
static volatile int held, destroyed;
struct local {
  ~local() {
    FRAME;
    ACQUIRE(1, X, 7);
    raise_flag(&destroyed);
    RELEASE(1, 7);
  }
};
static thread_local local object;
struct cleanup {
  void *frame;
  ~cleanup() { __atomfix_unwind(frame); }
};
static void *body(void *) {
  (void)&object;
  FRAME;
  cleanup guard{frame};
  std::unique_lock<std::mutex> lock(mutex);
  ACQUIRE(0, X, 1);
  raise_flag(&held);
  for (;;) condition.wait(lock);
}
int main() {
  pthread_t thread = start(body, nullptr);
  await(&held);
  doze(5);
  CHECK(!pthread_cancel(thread));
  finish(thread);
  CHECK(destroyed && mutex.try_lock() && is_free(0, X) && is_free(1, X));
  return 0;
}
