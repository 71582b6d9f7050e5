// Operations at every kind of place: before a node, on an edge within a block, at the end of a block, at the start of one,
// and on a critical edge, which is split.
// RUN: extract EXTRACT
// RUN: plan CHECK
// RUN: plan+gate GATE
// PLAN: lock0 f before n1: acquire R l0
// PLAN: lock0 f edge n1 n2: degrade l0
// PLAN: lock0 f edge n2 n3: acquire X l1
// PLAN: lock0 f edge n2 n5: release l0
// PLAN: lock0 f edge n4 n5: release l1
// PLAN: lock0 f before n6: acquire U l2
// PLAN: lock0 f before n7: release l2
int x, y;
int f(int n) {
  x = n;
  if (x)
    y = 1;
  return y;
}
// EXTRACT:      n1 write x -> n2
// EXTRACT-NEXT: n2 read x -> n3, n5
// EXTRACT-NEXT: n3 block -> n4
// EXTRACT-NEXT: n4 write y -> n5
// EXTRACT-NEXT: n5 block -> n6
// EXTRACT-NEXT: n6 read y -> n7
// EXTRACT-NEXT: n7 return
// CHECK:       @__atomfix_locks = external global [0 x i8]
// CHECK-LABEL: define {{.*}} @f(
// CHECK:       [[FRAME:%.*]] = alloca i64
// CHECK-NEXT:  call void @__atomfix_acquire(ptr @__atomfix_locks, i32 1, i32 0, ptr [[FRAME]]), !dbg
// CHECK-NEXT:  store i32 %0, ptr @x
// CHECK-NEXT:  call void @__atomfix_degrade(ptr @__atomfix_locks, i32 0, ptr [[FRAME]])
// CHECK-NEXT:  load i32, ptr @x
// CHECK:       br i1 {{.*}}, label %[[THEN:[0-9a-z._]+]], label %[[SPLIT:[0-9a-z._]+]], !dbg
// CHECK:       [[SPLIT]]:
// CHECK-NEXT:  call void @__atomfix_release(ptr @__atomfix_locks, i32 0, ptr [[FRAME]])
// CHECK-NEXT:  br label %[[END:[0-9a-z._]+]]
// CHECK:       [[THEN]]:
// CHECK-NEXT:  call void @__atomfix_acquire(ptr @__atomfix_locks, i32 3, i32 1, ptr [[FRAME]])
// CHECK-NEXT:  store i32 1, ptr @y
// CHECK-NEXT:  call void @__atomfix_release(ptr @__atomfix_locks, i32 1, ptr [[FRAME]])
// CHECK-NEXT:  br label %[[END]]
// CHECK:       [[END]]:
// CHECK-NEXT:  call void @__atomfix_acquire(ptr @__atomfix_locks, i32 2, i32 2, ptr [[FRAME]])
// CHECK-NEXT:  load i32, ptr @y
// CHECK-NEXT:  call void @__atomfix_release(ptr @__atomfix_locks, i32 2, ptr [[FRAME]])
// CHECK-NEXT:  ret i32

// With hooks, an operation before a node stands before its hooks.
// GATE-LABEL:  define {{.*}} @f(
// GATE:        call void @__atomfix_acquire(ptr @__atomfix_locks, i32 1, i32 0,
// GATE-NEXT:   call void @__atomfix_gate_access(ptr @x, i32 4, i32 1,
// GATE-NEXT:   store i32 %0, ptr @x
// GATE-NEXT:   call void @__atomfix_degrade(
// GATE-NEXT:   call void @__atomfix_gate_access(ptr @x, i32 4, i32 0,
