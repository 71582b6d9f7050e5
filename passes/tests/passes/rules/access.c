// Accesses to memory that may be shared, around which hooks stand; the address, size, kind and site are given.
// RUN: record RECORD
// RUN: gate GATE
// RUN: extract EXTRACT
long counter;
short *pointer;

long bump(void) {
  counter += 2;
  *pointer = 7;
  return counter;
}
// RECORD-LABEL: define {{.*}} @bump(
// RECORD:       [[FRAME:%.*]] = alloca i64
// RECORD-NEXT:  call void @__atomfix_record_enter(ptr [[FRAME]], i64 {{-?[0-9]+}})
// RECORD-NEXT:  [[T:%.*]] = call ptr @__atomfix_record_begin(ptr @counter, i32 8, i32 0, i64 {{-?[0-9]+}}), !dbg
// RECORD-NEXT:  load i64, ptr @counter
// RECORD-NEXT:  call void @__atomfix_record_end(ptr [[T]]), !dbg
// RECORD-NEXT:  add nsw i64
// RECORD-NEXT:  [[T:%.*]] = call ptr @__atomfix_record_begin(ptr @counter, i32 8, i32 1, i64 {{-?[0-9]+}})
// RECORD-NEXT:  store i64
// RECORD-NEXT:  call void @__atomfix_record_end(ptr [[T]])
// RECORD:       call ptr @__atomfix_record_begin(ptr @pointer, i32 8, i32 0,
// RECORD-NEXT:  [[P:%.*]] = load ptr, ptr @pointer
// RECORD-NEXT:  call void @__atomfix_record_end(
// RECORD-NEXT:  call ptr @__atomfix_record_begin(ptr [[P]], i32 2, i32 1,
// RECORD-NEXT:  store i16 7, ptr [[P]]
// RECORD:       call void @__atomfix_record_leave(ptr [[FRAME]])
// RECORD-NEXT:  ret i64
// RECORD:       declare void @__atomfix_record_enter(ptr, i64) [[HOOK:#[0-9]+]]
// RECORD:       attributes [[HOOK]] = { nounwind }

// GATE-LABEL:   define {{.*}} @bump(
// GATE-NOT:     alloca
// GATE:         call void @__atomfix_gate_access(ptr @counter, i32 8, i32 0, i64 {{-?[0-9]+}}), !dbg
// GATE-NEXT:    load i64, ptr @counter
// GATE-NEXT:    add
// GATE-NEXT:    call void @__atomfix_gate_access(ptr @counter, i32 8, i32 1,
// GATE-NEXT:    store i64
// GATE-NOT:     _record_

// EXTRACT:      function bump f{{[0-9a-f]+$}}
// EXTRACT-NEXT: n0 block -> n1 ; access.c:9:11
// EXTRACT-NEXT: n1 read counter -> n2 ; access.c:9:11
// EXTRACT-NEXT: n2 write counter -> n3 ; access.c:9:11
// EXTRACT-NEXT: n3 read pointer -> n4 ; access.c:10:4
// EXTRACT-NEXT: n4 write *s{{[0-9a-f]+}} -> n5 ; access.c:10:12
// EXTRACT-NEXT: n5 read counter -> n6 ; access.c:11:10
// EXTRACT-NEXT: n6 return ; access.c:11:3
