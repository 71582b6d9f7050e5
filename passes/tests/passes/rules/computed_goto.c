// Computed gotos: each target gets an entry of its own, so that operations can stand on the edges to it.
// RUN: extract EXTRACT
// RUN: plan CHECK
// PLAN: lock0 interpret before n1: acquire X l0
// PLAN: lock0 interpret edge n10 n3: release l0
// PLAN: lock0 interpret edge n10 n7: release l1
// PLAN: lock0 interpret edge n11 n4: degrade l0
int x;
int interpret(const unsigned char *code, int n) {
  static void *const labels[] = {&&add, &&end};
  x = n;
  goto *labels[*code];
add:
  n += 2;
  if (n < 10)
    goto add;
end:
  return n;
}
// EXTRACT:      n3 block -> n4 ;
// EXTRACT-NEXT: n4 block -> n5, n6 ;
// EXTRACT:      n10 block -> n3, n7 ;
// EXTRACT-NEXT: n11 block -> n4 ;
// CHECK-LABEL: define {{.*}} @interpret(
// CHECK:       call void @__atomfix_acquire(ptr @__atomfix_locks, i32 3, i32 0,
// CHECK-NEXT:  store i32
// CHECK:       call void @__atomfix_release(ptr @__atomfix_locks, i32 0,
// CHECK-NEXT:  br label %[[ADD:[0-9a-z._]+]]
// CHECK:       [[ADD]]:
// CHECK:       call void @__atomfix_release(ptr @__atomfix_locks, i32 1,
// CHECK:       indirectbr
// CHECK:       call void @__atomfix_degrade(ptr @__atomfix_locks, i32 0,
// CHECK-NEXT:  br label %[[ADD]]
