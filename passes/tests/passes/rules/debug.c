// Hooks carry the location of what they stand before; where there is none, line 0 of the function.
// RUN: record CHECK
int x;
int f(int n) {
  x = n;
  return x;
}
// CHECK: call void @__atomfix_record_enter({{.*}}), !dbg [[SET:![0-9]+]]
// CHECK: call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 1, {{.*}}), !dbg [[SET]]
// CHECK: [[SET]] = !DILocation(line: 5,
