; The short ways through the recording hooks. `inline.rs` links this into an instrumented module and calls these in place of the hooks.
;
; While `__atomfix_record_window` is odd the process records, and every hook takes the slow way. An even number is a pause: `%met` is the
; number of the last pause in which the slow way found this place to be nothing new. All that is left then is to compare the two.

@__atomfix_record_window = external hidden global i32
@__atomfix_record_entries = external thread_local(localexec) global i16
@__atomfix_record_caller = external thread_local(localexec) global i64

declare preserve_mostcc void @__atomfix_slow_enter(ptr, i64, ptr) #1
declare preserve_mostcc void @__atomfix_slow_leave(ptr) #1
declare preserve_mostcc void @__atomfix_slow_call(ptr, i64, ptr) #1
declare preserve_mostcc ptr @__atomfix_slow_begin(ptr, i32, i32, i64, ptr) #1
declare preserve_mostcc void @__atomfix_slow_end(ptr) #1
declare preserve_mostcc void @__atomfix_slow_range(ptr, i64, i32, i64, ptr) #1

define void @__atomfix_inline_enter(ptr %frame, i64 %function, ptr %met) #0 {
  %now = load volatile i32, ptr @__atomfix_record_window
  %then = load i32, ptr %met
  %old = icmp eq i32 %now, %then
  br i1 %old, label %count, label %slow
count:
  %place = call ptr @llvm.threadlocal.address.p0(ptr @__atomfix_record_entries)
  %entries = load i16, ptr %place
  %more = add i16 %entries, 1
  store i16 %more, ptr %place
  %due = icmp eq i16 %more, 0
  br i1 %due, label %slow, label %done
slow:
  call preserve_mostcc void @__atomfix_slow_enter(ptr %frame, i64 %function, ptr %met) #1
  br label %done
done:
  ret void
}

define void @__atomfix_inline_leave(ptr %frame, ptr %met) #0 {
  %now = load volatile i32, ptr @__atomfix_record_window
  %odd = and i32 %now, 1
  %pausing = icmp eq i32 %odd, 0
  br i1 %pausing, label %done, label %slow
slow:
  call preserve_mostcc void @__atomfix_slow_leave(ptr %frame) #1
  br label %done
done:
  ret void
}

define void @__atomfix_inline_call(ptr %frame, i64 %site, ptr %met) #0 {
  %place = call ptr @llvm.threadlocal.address.p0(ptr @__atomfix_record_caller)
  store i64 %site, ptr %place
  %now = load volatile i32, ptr @__atomfix_record_window
  %then = load i32, ptr %met
  %old = icmp eq i32 %now, %then
  br i1 %old, label %done, label %slow
slow:
  call preserve_mostcc void @__atomfix_slow_call(ptr %frame, i64 %site, ptr %met) #1
  br label %done
done:
  ret void
}

define ptr @__atomfix_inline_begin(ptr %address, i32 %size, i32 %kind, i64 %site, ptr %met) #0 {
  %now = load volatile i32, ptr @__atomfix_record_window
  %then = load i32, ptr %met
  %old = icmp eq i32 %now, %then
  br i1 %old, label %done, label %slow
slow:
  %begun = call preserve_mostcc ptr @__atomfix_slow_begin(ptr %address, i32 %size, i32 %kind, i64 %site, ptr %met) #1
  br label %done
done:
  %token = phi ptr [ null, %0 ], [ %begun, %slow ]
  ret ptr %token
}

define void @__atomfix_inline_end(ptr %token, ptr %met) #0 {
  %none = icmp eq ptr %token, null
  br i1 %none, label %done, label %slow
slow:
  call preserve_mostcc void @__atomfix_slow_end(ptr %token) #1
  br label %done
done:
  ret void
}

define void @__atomfix_inline_range(ptr %address, i64 %length, i32 %kind, i64 %site, ptr %met) #0 {
  %now = load volatile i32, ptr @__atomfix_record_window
  %then = load i32, ptr %met
  %old = icmp eq i32 %now, %then
  br i1 %old, label %done, label %slow
slow:
  call preserve_mostcc void @__atomfix_slow_range(ptr %address, i64 %length, i32 %kind, i64 %site, ptr %met) #1
  br label %done
done:
  ret void
}

declare ptr @llvm.threadlocal.address.p0(ptr)

attributes #0 = { alwaysinline nounwind }
attributes #1 = { cold nounwind }
