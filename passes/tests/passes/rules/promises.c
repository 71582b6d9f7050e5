// Promises that hooks break are taken back from functions and calls; LLVM would delete or merge the hooks otherwise.
// COMPILE: -O2
// RUN: record CHECK
// RUN: gate CHECK
extern int x;
__attribute__((pure)) int peek(void) { return x; }
__attribute__((const)) int far(int);
int twice(void) { return peek() + peek() + far(1) + far(1); }
// CHECK-LABEL: define {{.*}} @peek()
// CHECK:       call i32 @far(i32 noundef 1) [[CALL:#[0-9]+]]
// CHECK-NOT:   memory(
// CHECK-NOT:   willreturn }
// CHECK:       attributes [[CALL]] = { nounwind }
