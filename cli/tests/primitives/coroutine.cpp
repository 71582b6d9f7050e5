// What coroutines do is seen, whichever thread resumes them, also where they go on to after they were suspended.
// flags: -std=c++20
// case update: 1 | 2
// case handed-on: 3
// case awaits: 5
// case turns: 20
// case counts: 10
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <cstring>
#include <thread>
struct Task {
  struct promise_type {
    Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  ~Task() { handle.destroy(); }
};
static std::atomic<int> a;
static int n;
static Task update() {
  int was = n;
  n = was + 1;
  co_return;
}
static Task count(int to) {
  for (int i = 0; i < to; i++) {
    if (a) break;
    n++;
    co_await std::suspend_always{};
  }
}
static Task look(int times, int *seen) {
  for (int i = 0; i < times; i++) *seen += a == 0;
  co_await std::suspend_always{};
}
static Task flagged(int *seen) {
  for (int i = 0; i < 2; i++)
    if (!a) ++*seen;
  co_await std::suspend_always{};
  co_await std::suspend_always{};
  co_await std::suspend_always{};
  co_await std::suspend_always{};
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  auto named = [&](const char *name) { return !std::strcmp(is, name); };
  auto idle = [] { a = 0; };
  if (named("update")) {
    Task one = update(), two = update();
    std::thread t([&] { one.handle.resume(); });
    two.handle.resume();
    t.join();
  } else if (named("handed-on")) {
    Task one = count(3);
    std::thread t([&] { one.handle.resume(), one.handle.resume(); });
    t.join();
    while (!one.handle.done()) one.handle.resume();
  } else if (named("awaits")) {
    int seen = 0;
    Task one = flagged(&seen);
    std::thread t(idle);
    for (; !one.handle.done(); n++) one.handle.resume();
    n = n * 2 - (seen == 2) * 5;
    t.join();
  } else if (named("turns")) {
    Task one = count(20);
    std::thread t(idle);
    while (!one.handle.done()) one.handle.resume();
    t.join();
  } else {
    Task one = look(10, &n);
    std::thread t(idle);
    one.handle.resume();
    t.join();
  }
  std::printf("%d", n);
  std::fflush(stdout);
}
