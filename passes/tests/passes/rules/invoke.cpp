// A range that an invoke writes is reported where it goes on, on an edge of its own if others lead there too.
// RUN: record CHECK
extern "C" long read(int, void *, unsigned long);
char text[8];
int x;
void both(int fd) {
  try {
    if (fd > 3)
      read(fd, text, 8);
  } catch (...) { x = 1; }
}
// CHECK-LABEL: define {{.*}} @_Z4bothi(
// CHECK:       [[R:%.*]] = invoke i64 @read(
// CHECK-NEXT:  to label %[[ON:.*]] unwind label
// CHECK:       [[ON]]:
// CHECK-NEXT:  icmp sgt i64 [[R]], 0
// CHECK-NEXT:  select
// CHECK-NEXT:  call void @__atomfix_record_range(ptr @text,
