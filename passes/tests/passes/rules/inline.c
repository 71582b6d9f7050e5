// In place of each recording hook stands a short way with a word of the place's own, which the compiler inlines.
// RUN: inline CHECK
long counter;
void other(void);

long count(void) {
  other();
  return counter++;
}

// CHECK-DAG:   [[ENTERED:@[0-9]+]] = private global i32 0
// CHECK-LABEL: define {{.*}} @count(
// CHECK:       call void @__atomfix_inline_enter(ptr [[FRAME:%.*]], i64 {{-?[0-9]+}}, ptr @{{[0-9]+}})
// CHECK-NEXT:  call void @__atomfix_inline_call(ptr [[FRAME]], i64 {{-?[0-9]+}}, ptr @{{[0-9]+}})
// CHECK-NEXT:  call void @other()
// CHECK-NEXT:  [[T:%.*]] = call ptr @__atomfix_inline_begin(ptr @counter, i32 8, i32 0, i64 {{-?[0-9]+}}, ptr @{{[0-9]+}})
// CHECK-NEXT:  load i64, ptr @counter
// CHECK-NEXT:  call void @__atomfix_inline_end(ptr [[T]], ptr @{{[0-9]+}})
// CHECK:       call void @__atomfix_inline_leave(ptr [[FRAME]], ptr @{{[0-9]+}})
// CHECK:       define internal ptr @__atomfix_inline_begin({{.*}} [[WAYS:#[0-9]+]]
// CHECK:       call preserve_mostcc ptr @__atomfix_slow_begin(
// CHECK:       attributes [[WAYS]] = { alwaysinline nounwind }
