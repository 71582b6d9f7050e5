// One frame a function with sites; every return ends it. C functions do not unwind, so nothing else is added.
// RUN: record CHECK
int x;
int ways(int n) {
  if (n)
    return x;
  for (;;)
    if (x > 3)
      __builtin_abort();
}
int empty(int n) { return n + 1; }
// CHECK-LABEL: define {{.*}} @ways(
// CHECK-NEXT:  [[FRAME:%.*]] = alloca i64
// CHECK-NEXT:  call void @__atomfix_record_enter(ptr [[FRAME]],
// CHECK-NOT:   landingpad
// CHECK:       call void @__atomfix_record_leave(ptr [[FRAME]])
// CHECK-NEXT:  ret i32
// CHECK:       call void @__atomfix_record_call(ptr [[FRAME]],
// CHECK-NEXT:  call void @abort()
// CHECK-NEXT:  unreachable
// CHECK-LABEL: define {{.*}} @empty(
// CHECK-NEXT:  add
// CHECK-NEXT:  ret
