// At one place: releases, then degrades, then acquires by ascending lock, whatever the order in the plan.
// RUN: plan CHECK
// PLAN: lock2 f before n2: acquire X l2
// PLAN: lock1 f before n2: acquire X l1
// PLAN: lock1 f before n2: degrade l8
// PLAN: lock3 f before n2: release l9
// PLAN: lock3 f edge n1 n2: release l7
int x, y;
void f(void) { x = 1; y = 2; }
// CHECK:      store i32 1, ptr @x
// CHECK-NEXT: call void @__atomfix_release(ptr getelementptr inbounds (i8, ptr @__atomfix_locks, i64 192), i32 7,
// CHECK-NEXT: call void @__atomfix_release(ptr getelementptr inbounds (i8, ptr @__atomfix_locks, i64 192), i32 9,
// CHECK-NEXT: call void @__atomfix_degrade(ptr getelementptr inbounds (i8, ptr @__atomfix_locks, i64 64), i32 8,
// CHECK-NEXT: call void @__atomfix_acquire(ptr getelementptr inbounds (i8, ptr @__atomfix_locks, i64 64), i32 3, i32 1,
// CHECK-NEXT: call void @__atomfix_acquire(ptr getelementptr inbounds (i8, ptr @__atomfix_locks, i64 128), i32 3, i32 2,
// CHECK-NEXT: store i32 2, ptr @y
