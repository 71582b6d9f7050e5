// Calls: the recorder sees every one but inline assembly; the gate sees those that may leave the program's code.
// RUN: record RECORD
// RUN: gate GATE
// RUN: extract EXTRACT
void external(void);
int x;
static int inside(int n) { return x + n; }
int all(int (*through)(int)) {
  external();
  __asm__ volatile("nop");
  __asm__ volatile("lock; incl %0" : "+m"(x));
  __asm__ volatile("lock; incl (%0)" : : "r"(&x) : "memory");
  return inside(1) + through(2);
}
// RECORD-LABEL: define {{.*}} @all(
// RECORD:       call void @__atomfix_record_call(
// RECORD-NEXT:  call void @external()
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void @__atomfix_record_call(
// RECORD-NEXT:  call i32 @inside(
// RECORD-NEXT:  call void @__atomfix_record_call(
// RECORD-NEXT:  call i32 %{{.*}}(i32

// GATE-LABEL:   define {{.*}} @all(
// GATE:         call void @__atomfix_gate_call(i64
// GATE-NEXT:    call void @external()
// GATE-NEXT:    call void asm sideeffect "nop"
// GATE-NEXT:    call void @__atomfix_gate_access(ptr @x, i32 4, i32 258, i64
// GATE-NEXT:    call void @__atomfix_gate_access(ptr @x, i32 4, i32 258, i64
// GATE-NEXT:    call void asm sideeffect "lock; incl $0"
// GATE-NEXT:    call void @__atomfix_gate_assembly(i32 0, i64
// GATE-NEXT:    call void asm sideeffect "lock; incl ($0)"
// GATE-NEXT:    call i32 @inside(
// GATE-NEXT:    call void @__atomfix_gate_call(i64
// GATE-NEXT:    call i32 %{{.*}}(i32

// EXTRACT:      n1 call external -> n2
// EXTRACT-NEXT: n2 assembly -> n3
// EXTRACT-NEXT: n3 assembly -> n4
// EXTRACT-NEXT: n4 assembly -> n5
// EXTRACT-NEXT: n5 call inside@calls.c -> n6
// EXTRACT-NEXT: n6 call through i32 (i32) -> n7
