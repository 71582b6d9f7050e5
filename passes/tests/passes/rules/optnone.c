// `optnone` functions keep their stack slots, and are instrumented all the same.
// RUN: record CHECK
int x;
__attribute__((optnone, noinline)) int kept(int n) {
  int local = n;
  x = local;
  return local;
}
// CHECK-LABEL: define {{.*}} @kept(
// CHECK:       alloca i64
// CHECK:       alloca i32
// CHECK:       store i32 %0
// CHECK:       call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 1,
