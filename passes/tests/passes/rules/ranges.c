// Ranges: read ones before the call, written ones after it (gate: all before). Private ends are left out.
// RUN: record RECORD
// RUN: gate GATE
// RUN: extract EXTRACT
#include <stdio.h>
#include <string.h>
#include <unistd.h>
struct big { char bytes[64]; };
struct big from, to;
char text[32];

void copy(void) { to = from; }
void clear(void) { memset(text, 0, sizeof text); }
void fetch(int fd) { read(fd, text, sizeof text); }
void print(int n) { snprintf(text, sizeof text, "%d", n); }
void say(int n, char *s) { printf("%d %s", n, s); }
size_t length(char *s) { return strlen(s); }
int local(int i) { struct big copy = from; return copy.bytes[i]; }
// RECORD-LABEL: define {{.*}} @copy(
// RECORD:       call void @__atomfix_record_range(ptr @from, i64 64, i32 0, i64 [[SITE:-?[0-9]+]])
// RECORD-NEXT:  call void @llvm.memcpy
// RECORD-NEXT:  call void @__atomfix_record_range(ptr @to, i64 64, i32 1, i64 [[SITE]])
// RECORD-LABEL: define {{.*}} @clear(
// RECORD-NOT:   record_call
// RECORD:       call void @llvm.memset
// RECORD-NEXT:  call void @__atomfix_record_range(ptr @text, i64 32, i32 1,
// RECORD-LABEL: define {{.*}} @fetch(
// RECORD:       call void @__atomfix_record_call(ptr %{{.*}}, i64 [[SITE:-?[0-9]+]])
// RECORD-NEXT:  [[R:%.*]] = call i64 @read(
// RECORD-NEXT:  [[C:%.*]] = icmp sgt i64 [[R]], 0
// RECORD-NEXT:  [[L:%.*]] = select i1 [[C]], i64 [[R]], i64 0
// RECORD-NEXT:  call void @__atomfix_record_range(ptr @text, i64 [[L]], i32 1, i64 [[SITE]])
// RECORD-LABEL: define {{.*}} @print(
// RECORD:       [[N:%.*]] = call i32 (ptr, i64, ptr, ...) @snprintf(
// RECORD:       [[W:%.*]] = sext i32 [[N]] to i64
// RECORD:       select i1 {{.*}}, i64 {{.*}}, i64 32
// RECORD:       call void @__atomfix_record_range(ptr @text, i64 %{{.*}}, i32 1,
// RECORD-LABEL: define {{.*}} @say(
// RECORD:       call void @__atomfix_record_range(ptr %1, i64 %{{.*}}, i32 0,
// RECORD-NEXT:  {{.*}}call i32 (ptr, ...) @printf(
// RECORD-LABEL: define {{.*}} @length(
// RECORD:       [[L:%.*]] = select i1 {{.*}}, i64 -1, i64 0
// RECORD-NEXT:  call void @__atomfix_record_range(ptr %0, i64 [[L]], i32 0,
// RECORD-NEXT:  call i64 @strlen(

// GATE-LABEL:   define {{.*}} @copy(
// GATE:         [[FROM:%.*]] = call ptr @__atomfix_gate_read(ptr @from, i64 64, i32 0,
// GATE-NEXT:    call void @__atomfix_gate_range(ptr @to, i64 64, i32 1,
// GATE-NEXT:    call void @llvm.memcpy{{.*}}(ptr align 1 @to, ptr align 1 [[FROM]],
// GATE-LABEL:   define {{.*}} @fetch(
// GATE:         call void @__atomfix_gate_call(
// GATE-NEXT:    call void @__atomfix_gate_range(ptr @text, i64 32, i32 1,
// GATE-NEXT:    call i64 @read(
// GATE-LABEL:   define {{.*}} @print(
// GATE:         [[N:%.*]] = call i32 (ptr, i64, ptr, ...) @snprintf(ptr null, i64 0, ptr @.str, i32 {{.*}}%0)
// GATE:         call void @__atomfix_gate_range(ptr @text, i64 %{{.*}}, i32 1,
// GATE-NEXT:    {{.*}}call i32 (ptr, i64, ptr, ...) @snprintf({{.*}}@text, {{.*}}32, 
// GATE-LABEL:   define {{.*}} @say(
// GATE:         [[S:%.*]] = call ptr @__atomfix_gate_read(ptr %{{.*}}, i64 %{{.*}}, i32 0,
// GATE-NEXT:    call void @__atomfix_gate_handed(ptr null, i64 8989787457323008, ptr null, i64 {{.*}})
// GATE-NEXT:    {{.*}}call i32 (ptr, ...) @printf({{.*}}[[S]])

// EXTRACT:      function copy
// EXTRACT:      n1 call llvm.memcpy [read from] [write to] -> n2
// EXTRACT:      function fetch
// EXTRACT:      n1 call read [write text] blocks on Descriptor -> n2
// EXTRACT:      function say
// EXTRACT:      n1 call printf [read {{.*}}] -> n2
// EXTRACT:      function local
// EXTRACT:      n1 call llvm.memcpy [read from] -> n2
