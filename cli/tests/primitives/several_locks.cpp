// Threads that take the same two locks in opposite orders, by trying and backing off. They may get in each other's way for ever: within the
// library, which promises no deadlock, that is left out; in loops of the program's own it is a failure.
// flags: -std=c++17
// case scoped: 2
// note scoped: std::lock and std::scoped_lock: executions in which threads get in each other's way
// case lock: 2
// note lock: std::lock and std::scoped_lock: executions in which threads get in each other's way
// case unlike: 2
// note unlike: std::lock and std::scoped_lock: executions in which threads get in each other's way
// case three: 3
// note three: std::lock and std::scoped_lock: executions in which threads get in each other's way
// case awaited: 2
// note awaited: std::lock and std::scoped_lock: executions in which threads get in each other's way
// case own: 2 | livelock threads try for ever: each goes on, and none gets anywhere
// case partly: 2 | livelock threads try for ever: each goes on, and none gets anywhere
// case tried: 2 | livelock threads try for ever: each goes on, and none gets anywhere
// case stuck: deadlock-self a thread waits for a lock that it holds itself
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <thread>
static std::mutex a, b, c;
static std::recursive_mutex r;
static std::atomic<int> ended;
static int n;
static void own(std::mutex &x, std::mutex &y) {
  std::mutex *one = &x, *other = &y;
  for (;;) {
    one->lock();
    if (other->try_lock()) break;
    one->unlock();
    std::swap(one, other);
  }
  n++;
  x.unlock();
  y.unlock();
}
static void tried(std::mutex &x, std::mutex &y) {
  while (std::try_lock(x, y) != -1) std::this_thread::yield();
  n++;
  x.unlock();
  y.unlock();
}
template <typename X, typename Y> static void scoped(X &x, Y &y) {
  std::scoped_lock g(x, y);
  n++;
}
static void lock(std::mutex &x, std::mutex &y) {
  std::unique_lock g(x, std::defer_lock), h(y, std::defer_lock);
  std::lock(g, h);
  n++;
}
template <typename F, typename G> static void beside(F one, G two) {
  std::thread t(one);
  two();
  t.join();
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  auto named = [&](const char *name) { return !std::strcmp(is, name); };
  if (named("scoped")) beside([] { scoped(a, b); }, [] { scoped(b, a); });
  if (named("lock")) beside([] { lock(a, b); }, [] { lock(b, a); });
  if (named("unlike")) beside([] { scoped(a, r); }, [] { scoped(r, a); });
  if (named("three")) {
    std::thread t([] { scoped(a, b); }), u([] { scoped(b, c); });
    scoped(c, a);
    t.join();
    u.join();
  }
  if (named("awaited")) {
    std::thread t([] { scoped(a, b); ended++; }), u([] { scoped(b, a); ended++; });
    while (ended != 2) std::this_thread::yield();
    t.join();
    u.join();
  }
  if (named("own")) beside([] { own(a, b); }, [] { own(b, a); });
  if (named("partly")) beside([] { own(a, b); }, [] { scoped(b, a); });
  if (named("tried")) beside([] { tried(a, b); }, [] { tried(b, a); });
  if (named("stuck")) beside([] {}, [] { std::scoped_lock g(a); scoped(a, b); });
  std::printf("%d\n", n);
}
