// Functions in which no hook can run get none, and calls of them are not announced; of all others they are.
// RUN: record CHECK
int x;
static int twice(int n) { return n * 2; }
static int four_times(int n) { return twice(twice(n)); }
static int reads(int n) { return x + n; }
__attribute__((weak)) int replaceable(int n) { return n; }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int all(int n) { return four_times(n) + even(n) + reads(n) + replaceable(n); }
// CHECK-LABEL: define {{.*}} @all(
// CHECK:       call void @__atomfix_record_enter(
// CHECK-NEXT:  call i32 @four_times(
// CHECK-NEXT:  call i32 @even(
// CHECK-NEXT:  add
// CHECK-NEXT:  call void @__atomfix_record_call(
// CHECK-NEXT:  call i32 @reads(
// CHECK-NEXT:  add
// CHECK-NEXT:  call void @__atomfix_record_call(
// CHECK-NEXT:  call i32 @replaceable(
// CHECK-LABEL: define {{.*}} @four_times(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @even(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @reads(
// CHECK:       call void @__atomfix_record_enter(
