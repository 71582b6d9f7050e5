// A thread-local variable whose address is handed on may be shared, and so may one that other modules can name. It is no variable with one
// instance: its place is that of a pointer.
// RUN: record RECORD
// RUN: extract EXTRACT
struct reader { int inside; struct reader *next; };
static _Thread_local struct reader reader;
static _Thread_local int kept;
_Thread_local int named;
static struct reader *readers;

void announce(void) {
  reader.next = readers;
  readers = &reader;
}

int enter(void) {
  reader.inside = 1;
  kept++;
  return named;
}
// RECORD-LABEL: define {{.*}} @enter(
// RECORD:       call ptr @__atomfix_record_begin(ptr {{.*}}, i32 4, i32 1,
// RECORD-NEXT:  store i32 1,
// RECORD-NOT:   __atomfix_record_begin
// RECORD:       store i32
// RECORD:       call ptr @__atomfix_record_begin(ptr {{.*}}, i32 4, i32 0,
// EXTRACT-LABEL: function enter
// EXTRACT:      n1 write reader::+0 -> n2
// EXTRACT-NEXT: n2 read *{{s[0-9a-f]+}} -> n3
// EXTRACT-NEXT: n3 return
