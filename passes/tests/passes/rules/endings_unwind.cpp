// A call of such a function in one that has locks, too, becomes an invoke so that the way out by exception ends its holds: the thread still
// gives up right before it.
// RUN: plan CHECK
// RUN: plan+gate GATE
// ENDINGS: _Z4quiti
// PLAN: lock0 _Z1fi before n1: acquire X l0
// PLAN: lock0 _Z1fi edge n1 n2: release l0
int x;
void quit(int code);
void f(int n) {
  x = n;
  quit(n);
  quit(n + 1);
}
// CHECK-LABEL: define {{.*}}void @_Z1fi(
// CHECK:       call void @__atomfix_acquire(
// CHECK:       call void @__atomfix_give_up()
// CHECK-NEXT:  invoke void @_Z4quiti(
// CHECK:       call void @__atomfix_give_up()
// CHECK-NEXT:  invoke void @_Z4quiti(
// CHECK-NOT:   give_up()
// CHECK:       ret void
// GATE-LABEL:  define {{.*}}void @_Z1fi(
// GATE:        call void @__atomfix_gate_call(
// GATE-NEXT:   call void @__atomfix_give_up()
// GATE-NEXT:   invoke void @_Z4quiti(
// GATE:        call void @__atomfix_give_up()
// GATE-NEXT:   invoke void @_Z4quiti(
