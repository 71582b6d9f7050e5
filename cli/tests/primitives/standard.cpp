// C++ threads and all that the standard library has for them.
// flags: -std=c++20
// case thread: 2
// case mutex: 2
// case recursive: 2
// case timed-mutex: 0 | 1
// case shared-mutex: alone | together
// case shared-timed-mutex: 0 | 1
// case condition: 1
// case condition-timed: 0 | 1
// case condition-any: 1
// case call-once: 1
// case call-once-throws: 2
// case latch: 1
// case barrier: 2
// case semaphore: 1
// case semaphore-try: 0 | 1
// case atomic-wait: 1
// case atomic-flag: 1
// case jthread: 1
// case future: 7
// case local: 3
// case terminate: assert the program called abort
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
using namespace std::chrono_literals;
static int n;
static std::atomic<int> a, inside, together;
static std::once_flag once;
struct Local {
  int value = 0;
  ~Local() { a += value; }
};
static thread_local Local local;
template <typename F> static void beside(F one, F two) {
  std::thread t(one);
  two();
  t.join();
}
template <typename F> static void twice(F f) { beside(f, f); }
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  auto named = [&](const char *name) { return !std::strcmp(is, name); };
  std::mutex m;
  if (named("thread")) {
    std::thread t([] { n++; });
    t.join();
    std::printf("%d", n + 1);
  } else if (named("mutex")) {
    twice([&] { std::lock_guard g(m); n++; });
    std::printf("%d", n);
  } else if (named("recursive")) {
    std::recursive_mutex r;
    twice([&] { std::lock_guard g(r); std::lock_guard h(r); n++; });
    std::printf("%d", n);
  } else if (named("timed-mutex")) {
    std::timed_mutex r;
    std::thread t([&] { std::lock_guard g(r); });
    int got = r.try_lock_for(1s);
    if (got) r.unlock();
    t.join();
    std::printf("%d", got);
  } else if (named("shared-mutex")) {
    std::shared_mutex r;
    twice([&] { std::shared_lock g(r); if (++inside == 2) together = 1; inside--; });
    { std::unique_lock g(r); }
    std::printf("%s", together ? "together" : "alone");
  } else if (named("shared-timed-mutex")) {
    std::shared_timed_mutex r;
    std::thread t([&] { std::lock_guard g(r); });
    int got = r.try_lock_shared_for(1s);
    if (got) r.unlock_shared();
    t.join();
    std::printf("%d", got);
  } else if (named("condition")) {
    std::condition_variable c;
    std::thread t([&] { std::lock_guard g(m); n = 1; c.notify_one(); });
    { std::unique_lock g(m); c.wait(g, [] { return n == 1; }); }
    t.join();
    std::printf("%d", n);
  } else if (named("condition-timed")) {
    std::condition_variable c;
    std::thread t([&] { std::lock_guard g(m); n = 1; c.notify_all(); });
    int got = 1;
    { std::unique_lock g(m); if (!n) got = c.wait_for(g, 1s) == std::cv_status::no_timeout; }
    t.join();
    std::printf("%d", got);
  } else if (named("condition-any")) {
    std::condition_variable_any c;
    std::shared_mutex r;
    std::thread t([&] { std::lock_guard g(r); n = 1; c.notify_one(); });
    { std::shared_lock g(r); c.wait(g, [] { return n == 1; }); }
    t.join();
    std::printf("%d", n);
  } else if (named("call-once")) {
    twice([] { std::call_once(once, [] { n++; }); });
    std::printf("%d", n);
  } else if (named("call-once-throws")) {
    // The first call fails, so that another one runs it again.
    twice([] {
      try {
        std::call_once(once, [] { if (++n == 1) throw 1; });
      } catch (int) {
        std::call_once(once, [] { ++n; });
      }
    });
    std::printf("%d", n);
  } else if (named("latch")) {
    std::latch l(1);
    std::thread t([&] { n = 1; l.count_down(); });
    l.wait();
    std::printf("%d", n);
    t.join();
  } else if (named("barrier")) {
    std::barrier b(2);
    twice([&] { a++; b.arrive_and_wait(); if (a != 2) a = 99; });
    std::printf("%d", (int)a);
  } else if (named("semaphore")) {
    std::counting_semaphore<2> s(0);
    std::thread t([&] { n = 1; s.release(); });
    s.acquire();
    std::printf("%d", n);
    t.join();
  } else if (named("semaphore-try")) {
    std::binary_semaphore s(0);
    std::thread t([&] { s.release(); });
    int got = s.try_acquire();
    t.join();
    std::printf("%d", got);
  } else if (named("atomic-wait")) {
    std::thread t([] { a = 1; a.notify_one(); });
    a.wait(0);
    std::printf("%d", (int)a);
    t.join();
  } else if (named("atomic-flag")) {
    std::atomic_flag f;
    std::thread t([&] { f.test_and_set(); f.notify_all(); });
    f.wait(false);
    std::printf("%d", f.test());
    t.join();
  } else if (named("jthread")) {
    std::jthread t([](std::stop_token stop) { while (!stop.stop_requested()) std::this_thread::yield(); a = 1; });
    t.request_stop();
    t.join();
    std::printf("%d", (int)a);
  } else if (named("future")) {
    std::promise<int> p;
    std::future<int> f = p.get_future();
    std::thread t([&] { p.set_value(7); });
    std::printf("%d", f.get());
    t.join();
  } else if (named("local")) {
    std::thread t([] { local.value = 1; }), u([] { local.value = 2; });
    t.join();
    u.join();
    std::printf("%d", (int)a);
  } else {
    std::thread t([] {});
  }
  std::fflush(stdout);
}
