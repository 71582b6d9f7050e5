// Exceptions and locks: operations on unwind edges stand behind the landing pad of that edge alone, and every way out by
// exception ends the frame's holds. The function that has no operations is not touched.
// RUN: extract EXTRACT
// RUN: plan CHECK
// PLAN: lock0 _Z1fv before n1: acquire X l0
// PLAN: lock0 _Z1fv edge n2 n6: release l0
// PLAN: lock1 _Z1fv edge n4 n6: release l1
// PLAN: lock1 _Z1fv edge n2 n3: acquire R l1
// PLAN: lock2 _Z1fv before n6: acquire R l2
// PLAN: lock2 _Z1fv edge n6 n7: release l2
int x;
void one(); void two(); void three();
void f() {
  x = 1;
  try { one(); two(); } catch (int) { x = 2; }
  three();
}
void untouched() { three(); }
// EXTRACT:      function _Z1fv
// EXTRACT:      n2 call _Z3onev -> n3, n6 ;
// EXTRACT:      n4 call _Z3twov -> n5, n6 ;
// EXTRACT-NEXT: n5 block -> n13 ;
// EXTRACT-NEXT: n6 block -> n7 ;
// CHECK-LABEL: define {{.*}} @_Z1fv(
// CHECK:       [[FRAME:%.*]] = alloca i64
// CHECK:       call void @__atomfix_acquire(ptr @__atomfix_locks, i32 3, i32 0,
// CHECK-NEXT:  store i32 1
// CHECK-NEXT:  invoke void @_Z3onev()
// CHECK-NEXT:  to label %[[ON:[0-9a-z._]+]] unwind label %[[ONE:[0-9a-z._]+]], !dbg
// CHECK:       [[ON]]:
// CHECK-NEXT:  call void @__atomfix_acquire({{.*}}, i32 1, i32 1,
// CHECK-NEXT:  invoke void @_Z3twov()
// CHECK-NEXT:  to label %{{.*}} unwind label %[[TWO:[0-9a-z._]+]], !dbg
// CHECK:       [[ONE]]:
// CHECK-NEXT:  landingpad { ptr, i32 }
// CHECK-NEXT:  cleanup
// CHECK-NEXT:  catch ptr @_ZTIi
// CHECK-NEXT:  call void @__atomfix_release(ptr @__atomfix_locks, i32 0, ptr [[FRAME]])
// CHECK-NEXT:  br label %[[BOTH:[0-9a-z._]+]]
// CHECK:       [[TWO]]:
// CHECK-NEXT:  landingpad { ptr, i32 }
// CHECK-NEXT:  cleanup
// CHECK-NEXT:  catch ptr @_ZTIi
// CHECK-NEXT:  call void @__atomfix_release({{.*}}, i32 1, ptr [[FRAME]])
// CHECK-NEXT:  br label %[[BOTH]]
// CHECK:       [[BOTH]]:
// CHECK-NEXT:  phi { ptr, i32 }
// CHECK-NEXT:  call void @__atomfix_acquire({{.*}}, i32 1, i32 2,
// CHECK:       call void @__atomfix_release({{.*}}, i32 2,
// CHECK:       invoke void @_Z5threev()
// CHECK:       call void @__atomfix_unwind(ptr [[FRAME]])
// CHECK-NEXT:  resume
// CHECK:       call void @__atomfix_unwind(ptr [[FRAME]])
// CHECK-NEXT:  resume
// CHECK-LABEL: define {{.*}} @_Z9untouchedv(
// CHECK-NEXT:  call void @_Z5threev()
// CHECK-NEXT:  ret void
