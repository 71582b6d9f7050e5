// Ways out by exception: a call outside a `try` gets a landing pad; a pad that catches one type is entered for all.
// RUN: record CHECK
int x;
void may_throw();
void nothrow() noexcept;

void plain() { may_throw(); }
void quiet() noexcept { nothrow(); }
void catching() {
  try { may_throw(); } catch (int) { x = 1; }
}
// CHECK-LABEL: define {{.*}} @_Z5plainv({{.*}} personality ptr @__gxx_personality_v0
// CHECK:       [[FRAME:%.*]] = alloca i64
// CHECK:       call void @__atomfix_record_enter(ptr [[FRAME]],
// CHECK:       invoke void @_Z9may_throwv()
// CHECK-NEXT:  to label %{{.*}} unwind label %[[PAD:.*]], !dbg
// CHECK:       call void @__atomfix_record_leave(ptr [[FRAME]])
// CHECK-NEXT:  ret void
// CHECK:       [[PAD]]:
// CHECK-NEXT:  landingpad { ptr, i32 }
// CHECK-NEXT:  cleanup
// CHECK-NEXT:  call void @__atomfix_record_leave(ptr [[FRAME]])
// CHECK-NEXT:  resume
// CHECK-LABEL: define {{.*}} @_Z5quietv(
// CHECK-NOT:   landingpad
// CHECK:       ret void
// CHECK-LABEL: define {{.*}} @_Z8catchingv(
// CHECK:       landingpad { ptr, i32 }
// CHECK-NEXT:  cleanup
// CHECK-NEXT:  catch ptr @_ZTIi
// CHECK:       call void @__atomfix_record_leave(
// CHECK-NEXT:  ret void
// CHECK:       call void @__atomfix_record_leave(
// CHECK-NEXT:  resume
