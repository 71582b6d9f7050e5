// Blocks that are given back: a write to all of the block, told before the call; the gate has a heap of its own. The place is the block's
// alone, not that of its first field.
// RUN: record RECORD
// RUN: gate GATE
// RUN: extract EXTRACT
#include <stdlib.h>

int last(int *value)
{
    int found = *value;
    free(value);
    return found;
}
int *grow(int *values, unsigned long bytes) { return realloc(values, bytes); }
// RECORD-LABEL: define {{.*}} @last(
// RECORD:       call void @__atomfix_record_call(ptr %{{.*}}, i64 [[SITE:-?[0-9]+]])
// RECORD-NEXT:  call void @__atomfix_record_range(ptr %0, i64 -2, i32 1, i64 [[SITE]])
// RECORD-NEXT:  call void @free(ptr {{.*}}%0)
// RECORD-LABEL: define {{.*}} @grow(
// RECORD:       call void @__atomfix_record_range(ptr %0, i64 -2, i32 2,
// RECORD-NEXT:  call {{.*}}ptr @realloc(

// GATE-LABEL:   define {{.*}} @last(
// GATE:         call void @__atomfix_gate_call(
// GATE-NEXT:    call void @free(

// EXTRACT:      function last
// EXTRACT:      read *[[FIRST:s[0-9a-f]+]]
// EXTRACT-NOT:  call free [write *[[FIRST]]]
// EXTRACT:      call free [write *{{s[0-9a-f]+}}]
// EXTRACT:      function grow
// EXTRACT:      call realloc [update *{{s[0-9a-f]+}}]
