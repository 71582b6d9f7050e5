// A region in R that is one load does without the lock while nobody writes, but not under hooks, and not where more than the load is
// kept: a volatile load, a store, a load that two locks are taken for, a region of two loads.
// COMPILE: -O1
// RUN: extract EXTRACT
// RUN: plan CHECK
// RUN: plan+gate GATE
// PLAN: lock0 once before n1: acquire R l0
// PLAN: lock0 once edge n1 n2: release l0
// PLAN: lock0 careful before n1: acquire R l1
// PLAN: lock0 careful edge n1 n2: release l1
// PLAN: lock0 set before n1: acquire R l2
// PLAN: lock0 set edge n1 n2: release l2
// PLAN: lock0 both before n1: acquire R l3
// PLAN: lock0 both edge n1 n2: release l3
// PLAN: lock1 both before n1: acquire R l4
// PLAN: lock1 both edge n1 n2: release l4
// PLAN: lock0 twice before n1: acquire R l5
// PLAN: lock0 twice edge n2 n3: release l5
// PLAN: lock0 chosen before n1: acquire R l6
// PLAN: lock0 chosen edge n1 n2: release l6
// PLAN: lock0 chosen edge n1 n4: release l6
// PLAN: lock0 half before n1: acquire R l7
// PLAN: lock0 half edge n1 n2: release l7
int x, y;
volatile int v;
int once(void) { return x; }
int careful(void) { return v; }
void set(void) { x = 1; }
int both(void) { return x; }
int twice(void) { return x + y; }
int chosen(void) { return x ? y : 7; }
int half(void) { return x ? y : 7; }
// EXTRACT:      n1 read x -> n2
// EXTRACT:      n1 read x -> n2, n4
// CHECK-LABEL: define {{.*}} @once(
// CHECK:       [[TOKEN:%.*]] = call i64 @__atomfix_glance(ptr @__atomfix_locks)
// CHECK-NEXT:  [[FIRST:%.*]] = load i32, ptr @x
// CHECK-NEXT:  fence acquire
// CHECK-NEXT:  [[LAST:%.*]] = load atomic i64, ptr getelementptr inbounds {{.*}}@__atomfix_locks, i64 24) monotonic, align 8
// CHECK-NEXT:  [[THEN:%.*]] = xor i64 [[TOKEN]], -1
// CHECK-NEXT:  [[MOVED:%.*]] = icmp ne i64 [[LAST]], [[THEN]]
// CHECK-NEXT:  br i1 [[MOVED]], label %[[AGAIN:[0-9]+]], label %[[DONE:[0-9]+]], {{.*}}!prof
// CHECK:       [[AGAIN]]:
// CHECK-NEXT:  call void @__atomfix_acquire(ptr @__atomfix_locks, i32 1, i32 0,
// CHECK-NEXT:  [[SECOND:%.*]] = load i32, ptr @x
// CHECK-NEXT:  call void @__atomfix_release(ptr @__atomfix_locks, i32 0,
// CHECK-NEXT:  br label %[[DONE]]
// CHECK:       [[DONE]]:
// CHECK-NEXT:  [[READ:%.*]] = phi i32 [ [[FIRST]], {{.*}} ], [ [[SECOND]], %[[AGAIN]] ]
// CHECK-NEXT:  ret i32 [[READ]]
// CHECK-LABEL: define {{.*}} @careful(
// CHECK-NOT:   call i64 @__atomfix_glance
// CHECK-LABEL: define {{.*}} @set(
// CHECK-NOT:   call i64 @__atomfix_glance
// CHECK-LABEL: define {{.*}} @both(
// CHECK-NOT:   call i64 @__atomfix_glance
// CHECK-LABEL: define {{.*}} @twice(
// CHECK-NOT:   call i64 @__atomfix_glance
// CHECK-LABEL: define {{.*}} @chosen(
// CHECK:       call i64 @__atomfix_glance(
// CHECK:       call void @__atomfix_acquire(
// CHECK-NEXT:  load i32, ptr @x
// CHECK-NEXT:  call void @__atomfix_release(
// CHECK-NOT:   call void @__atomfix_release(
// CHECK-LABEL: define {{.*}} @half(
// CHECK-NOT:   call i64 @__atomfix_glance
// CHECK:       call void @__atomfix_acquire(
// CHECK:       call void @__atomfix_release(
// GATE-LABEL:  define {{.*}} @once(
// GATE:        call void @__atomfix_acquire(
// GATE-NOT:    call i64 @__atomfix_glance
