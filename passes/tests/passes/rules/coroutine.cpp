// A coroutine that is not split yet is left alone whole, and named.
// COMPILE: -std=c++20
// RUN: record CHECK
// RUN: extract EXTRACT
#include <coroutine>
struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
int x;

extern "C" task wait_and_write() {
  x = 1;
  co_await std::suspend_always{};
  x = 2;
}
extern "C" void plain() { x = 3; }
// CHECK-LABEL: define {{.*}} @wait_and_write(
// CHECK-NOT:   @__atomfix
// CHECK:       {{^[}]}}
// CHECK-LABEL: define {{.*}} @plain(
// CHECK:       @__atomfix

// EXTRACT:     function wait_and_write {{f[0-9a-f]+}} refused: it is a coroutine
// EXTRACT:     uncovered wait_and_write: it is a coroutine
