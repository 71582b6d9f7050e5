// Before calls of functions that never come back, by the names that calls use, the thread gives up what it holds.
// RUN: plan CHECK
// ENDINGS: fail@endings.c elsewhere
static void fail(int code) { for (;;) ; }
void elsewhere(int code);
void other(int code);
void f(int n) {
  if (n) fail(n);
  other(n);
  elsewhere(n);
}
// CHECK-LABEL: define {{.*}}void @f(
// CHECK:       call void @__atomfix_give_up()
// CHECK-NEXT:  call void @fail(
// CHECK-NOT:   give_up
// CHECK:       call void @other(
// CHECK:       call void @__atomfix_give_up()
// CHECK-NEXT:  call void @elsewhere(
// CHECK-NOT:   give_up
// CHECK:       ret void
