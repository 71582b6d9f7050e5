// A coroutine that is not split yet is left alone whole, and named. The gate sees it, its locals included, which lie on the heap; where it goes on
// after it was suspended no hook sees.
// COMPILE: -std=c++20
// RUN: record CHECK
// RUN: gate GATE
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
// GATE-LABEL: define {{.*}} @wait_and_write(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// GATE:       call void @__atomfix_gate_call(i64 {{-?[0-9]+}}, i32 2)
// GATE-NEXT:  call token @llvm.coro.save(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// CHECK-LABEL: define {{.*}} @plain(
// CHECK:       @__atomfix

// EXTRACT:     function wait_and_write {{f[0-9a-f]+}} refused: it is a coroutine
// EXTRACT:     uncovered wait_and_write: it is a coroutine
