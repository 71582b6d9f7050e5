// Functions too odd to change are left alone whole, and named; the gate's hooks stand in those that only calls before instructions do no harm.
// RUN: record CHECK
// RUN: gate GATE
// RUN: extract EXTRACT
#include <pthread.h>
#include <setjmp.h>
jmp_buf jump;
int x;

int returns_twice(void) {
  int local = 1;
  if (setjmp(jump))
    return x + local;
  x = local;
  return 0;
}
static void clean(void *unused) {}
void cleans_up(void) {
  pthread_cleanup_push(clean, 0);
  x = 1;
  pthread_cleanup_pop(1);
}
int assembly_goto(void) {
  __asm__ goto("" : : : : out);
  return x;
out:
  return 1;
}
__attribute__((naked)) void naked(void) { __asm__("ret"); }
void silent_registers(void) {
  __asm__ volatile("movd %0, %%xmm5" : : "m"(x));
  __asm__ volatile("movd %%xmm5, %0" : "=m"(x));
}
int tail(int n) {
  x = n;
  __attribute__((musttail)) return tail(n + 1);
}
static int implementation(void) { return 1; }
static void *resolve(void) { return x ? (void *)implementation : 0; }
int resolved(void) __attribute__((ifunc("resolve")));
// GATE-LABEL: define {{.*}} @returns_twice(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// GATE-LABEL: define {{.*}} @cleans_up(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// GATE-LABEL: define {{.*}} @assembly_goto(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// GATE-LABEL: define {{.*}} @naked(
// GATE-NOT:   @__atomfix
// GATE-LABEL: define {{.*}} @silent_registers(
// GATE-NOT:   @__atomfix
// GATE-LABEL: define {{.*}} @tail(
// GATE:       call void @__atomfix_gate_access(ptr @x,
// GATE:       musttail call
// GATE-LABEL: define {{.*}} @resolve(
// GATE-NOT:   @__atomfix
// GATE:       ret ptr
// CHECK-LABEL: define {{.*}} @returns_twice(
// CHECK:       alloca i32
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @cleans_up(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @assembly_goto(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @naked(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @silent_registers(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @tail(
// CHECK-NOT:   @__atomfix
// CHECK-LABEL: define {{.*}} @resolve(
// CHECK-NOT:   @__atomfix
// CHECK:       ret ptr

// EXTRACT:     function returns_twice {{f[0-9a-f]+}} refused: it calls a function that returns twice (setjmp)
// EXTRACT:     function cleans_up {{f[0-9a-f]+}} refused: it uses `pthread_cleanup_push`, which is a setjmp in C that is compiled without -fexceptions
// EXTRACT:     function assembly_goto {{f[0-9a-f]+}} refused: it has an asm goto
// EXTRACT:     function naked {{f[0-9a-f]+}} refused: it is naked
// EXTRACT:     function silent_registers {{f[0-9a-f]+}} refused: its assembly keeps values in registers without a word to the compiler
// EXTRACT:     function tail {{f[0-9a-f]+}} refused: it has a call that must be a tail call
// EXTRACT:     function resolve@refused.c {{f[0-9a-f]+}} refused: it resolves an ifunc
// EXTRACT:     uncovered returns_twice: it calls a function that returns twice (setjmp)
