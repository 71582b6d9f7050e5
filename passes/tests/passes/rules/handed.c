// What functions outside the program are handed is announced to the gate, but for constants and what the table tells of.
// RUN: gate GATE
// RUN: record RECORD
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <pthread.h>
extern void frob(void *, const char *, int);
struct pair { int first; struct stat second; } pair;
char path[16];
pthread_attr_t attributes;
pthread_mutex_t lock;

int status(void) { return stat(path, &pair.second); }
void foreign(void *p) { frob(p, "constant", 1); }
void through(void (*f)(void *), void *p) { f(p); }
void print(FILE *to, char *what) { fputs(what, to); }
void named(void) { getenv(path); }
void locks(void) { pthread_mutex_lock(&lock); pthread_attr_init(&attributes); }
void defined(void *p) { foreign(p); }
void formatted(const char *format, char *what) { snprintf(path, 4, format, 1, what); }
void arguments(const char *format, va_list list) { vsnprintf(path, 4, format, list); }
void warned(char *what) { warnx("%s", what); }
int random_number(void) { return rand(); }
int input(void) { return getchar(); }
// Bits 0 to 31 are the bytes from there on, 32 and 33 what is done (0 reads, 2 updates), 34 to 39 what the object is, 40 to 43 by whom, 44 to 51 which
// argument it is, and bit 52 that all of this is known.
// GATE-LABEL:   define {{.*}} @status(
// GATE:         call void @__atomfix_gate_handed(ptr @path, i64 4503599627370512, ptr null, i64 [[SITE:-?[0-9]+]])
// GATE-NEXT:    call void @__atomfix_gate_handed(ptr getelementptr {{.*}}@pair, i32 0, i32 1), i64 17600775979152, ptr null, i64 [[SITE]])
// GATE-NEXT:    call i32 @stat(
// GATE-LABEL:   define {{.*}} @foreign(
// GATE:         call void @__atomfix_gate_handed(ptr %{{.*}}, i64 1108101562368, ptr @__atomfix_name_of_frob, i64 {{.*}})
// GATE-NEXT:    call void @frob(
// GATE-LABEL:   define {{.*}} @through(
// GATE:         call void @__atomfix_gate_handed(ptr %[[P:.*]], i64 2207613190144, ptr %[[F:.*]], i64 {{.*}})
// GATE-NEXT:    call void %[[F]](ptr {{.*}}%[[P]])
// GATE-LABEL:   define {{.*}} @print(
// GATE:         call ptr @__atomfix_gate_read(
// GATE-NEXT:    call void @__atomfix_gate_handed(ptr %{{.*}}, i64 17617955848192, ptr null, i64 {{.*}})
// GATE-NEXT:    call i32 @fputs(
// GATE-LABEL:   define {{.*}} @named(
// GATE-DAG:     call void @__atomfix_gate_handed(ptr @path, i64 4503599627370512, ptr null, i64 {{.*}})
// GATE-DAG:     call void @__atomfix_gate_handed(ptr null, i64 1202590842880, ptr @__atomfix_name_of_getenv, i64 {{.*}})
// GATE:         call ptr @getenv(
// GATE-LABEL:   define {{.*}} @locks(
// GATE-NOT:     gate_handed(ptr @lock
// GATE:         call i32 @pthread_mutex_lock(
// GATE:         call void @__atomfix_gate_handed(ptr @attributes, i64 4503608217305144, ptr null, i64 {{.*}})
// GATE-NEXT:    call i32 @pthread_attr_init(
// GATE-LABEL:   define {{.*}} @defined(
// GATE-NOT:     gate_handed
// GATE:         call void @foreign(
// GATE-LABEL:   define {{.*}} @formatted(
// GATE:         call void @__atomfix_gate_handed(ptr %1, i64 4521312072499200, ptr %0, i64 {{.*}})
// GATE:         call i32 (ptr, i64, ptr, ...) @snprintf({{.*}}@path
// GATE-LABEL:   define {{.*}} @arguments(
// GATE:         call void @__atomfix_gate_handed(ptr %1, i64 4503737066323968, ptr %0, i64 {{.*}})
// GATE:         call i32 @vsnprintf(
// GATE-LABEL:   define {{.*}} @warned(
// GATE:         call void @__atomfix_gate_handed(ptr %0, i64 4503719886454784, ptr @.str{{.*}}, i64 {{.*}})
// GATE:         call void {{.*}}@warnx(
// GATE-LABEL:   define {{.*}} @random_number(
// GATE:         call void @__atomfix_gate_handed(ptr null, i64 18803366821888, ptr @__atomfix_name_of_rand, i64 {{.*}})
// GATE-NEXT:    call i32 @rand(
// GATE-LABEL:   define {{.*}} @input(
// GATE:         call void @__atomfix_gate_handed(ptr null, i64 8989770277453824, ptr null, i64 {{.*}})
// GATE-NEXT:    call i32 @getchar(
// RECORD-NOT:   gate_handed
