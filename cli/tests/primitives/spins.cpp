// Who spins with a compare-and-swap goes in a circle, though one that fails writes what it found to a local whose address it was handed.
// flags: -std=c++20
// outcomes: 2
#include <atomic>
#include <cstdio>
#include <thread>
static std::atomic<int> taken;
static int n;
static void increment() {
  int expected = 0;
  while (!taken.compare_exchange_strong(expected, 1)) expected = 0;
  n++;
  taken = 0;
}
int main() {
  std::thread t(increment);
  increment();
  t.join();
  std::printf("%d", n);
  std::fflush(stdout);
}
