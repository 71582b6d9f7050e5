// Calls: the recorder sees every one but inline assembly; the gate sees those that may leave the program's code, with what their results
// may depend on besides what hooks see: 0 nothing, 1 random numbers, 2 state of the function's own.
// RUN: record RECORD
// RUN: gate GATE
// RUN: extract EXTRACT
void external(void);
int rand(void), sched_yield(void);
int x;
static int inside(int n) { return x + n; }
int all(int (*through)(int)) {
  external();
  x = rand();
  sched_yield();
  __asm__ volatile("nop");
  __asm__ volatile("lock; incl %0" : "+m"(x));
  __asm__ volatile("lock; incl (%0)" : : "r"(&x) : "memory");
  return inside(1) + through(2);
}
// RECORD-LABEL: define {{.*}} @all(
// RECORD:       call void @__atomfix_record_call(
// RECORD-NEXT:  call void @external()
// RECORD:       call i32 @rand()
// RECORD:       call i32 @sched_yield()
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void asm
// RECORD-NEXT:  call void @__atomfix_record_call(
// RECORD-NEXT:  call i32 @inside(
// RECORD-NEXT:  call void @__atomfix_record_call(
// RECORD-NEXT:  call i32 %{{.*}}(i32

// GATE-LABEL:   define {{.*}} @all(
// GATE:         call void @__atomfix_gate_call(i64 {{-?[0-9]+}}, i32 2)
// GATE-NEXT:    call void @external()
// GATE-NEXT:    call void @__atomfix_gate_call(i64 {{-?[0-9]+}}, i32 1)
// GATE-NEXT:    call void @__atomfix_gate_handed(ptr null, i64 {{-?[0-9]+}}, ptr @__atomfix_name_of_rand,
// GATE-NEXT:    call i32 @rand()
// GATE:         call void @__atomfix_gate_call(i64 {{-?[0-9]+}}, i32 0)
// GATE-NEXT:    call i32 @sched_yield()
// GATE-NEXT:    call void asm sideeffect "nop"
// GATE-NEXT:    call void @__atomfix_gate_access(ptr @x, i32 4, i32 258, i64
// GATE-NEXT:    call void asm sideeffect "lock; incl $0"
// GATE-NEXT:    call void @__atomfix_gate_assembly(i32 0, i64
// GATE-NEXT:    call void asm sideeffect "lock; incl ($0)"
// GATE-NEXT:    call i32 @inside(
// GATE-NEXT:    call void @__atomfix_gate_call(i64 {{-?[0-9]+}}, i32 0)
// GATE-NEXT:    call i32 %{{.*}}(i32

// EXTRACT:      n1 call external -> n2
// EXTRACT-NEXT: n2 call rand -> n3
// EXTRACT-NEXT: n3 write {{.*}} -> n4
// EXTRACT-NEXT: n4 call sched_yield -> n5
// EXTRACT-NEXT: n5 assembly -> n6
// EXTRACT-NEXT: n6 assembly -> n7
// EXTRACT-NEXT: n7 assembly -> n8
// EXTRACT-NEXT: n8 call inside@calls.c -> n9
// EXTRACT-NEXT: n9 call through i32 (i32) -> n10
