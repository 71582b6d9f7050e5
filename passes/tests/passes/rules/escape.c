// Locals that are only handed to functions which keep them to themselves need no hooks, there and in those functions. As soon
// as one caller hands over something else, or one function lets the pointer out, they do.
// RUN: record CHECK
// RUN: gate CHECK
// RUN: extract EXTRACT
struct stream { long bits; int count; };
struct stream global;
struct stream *kept;

static void add(struct stream *s, int n) { s->bits |= n; s->count++; }
static void twice(struct stream *s) { add(s, 1); add(s, 2); }
int mine(void) { struct stream s = {0, 0}; twice(&s); return s.count; }
// CHECK-LABEL: define {{.*}} @mine(
// CHECK-NOT:   @__atomfix
// CHECK:       ret i32
// CHECK-LABEL: define internal void @twice(
// CHECK-NOT:   @__atomfix
// CHECK:       ret void

static void set(struct stream *s) { s->count = 1; }
void both(void) { struct stream s; set(&s); set(&global); }
// CHECK-LABEL: define {{.*}} @both(
// CHECK-LABEL: define internal void @set(
// CHECK:       call {{.*}} @__atomfix_{{record_begin|gate_access}}(

static void keep(struct stream *s) { kept = s; }
void lets_out(void) { struct stream s; keep(&s); s.count = 3; }
// CHECK-LABEL: define {{.*}} @lets_out(
// CHECK:       call {{.*}} @__atomfix_{{record_begin|gate_access}}(
// CHECK:       store i32 3

static struct stream *same(struct stream *s) { return s; }
void returned(void) { struct stream s; kept = same(&s); s.count = 4; }
// CHECK-LABEL: define {{.*}} @returned(
// CHECK:       call {{.*}} @__atomfix_{{record_begin|gate_access}}(ptr @kept
// CHECK:       call {{.*}} @__atomfix_{{record_begin|gate_access}}(
// CHECK:       store i32 4

static void *thread(void *p) { ((struct stream *)p)->count = 5; return 0; }
void *(*entry)(void *) = thread;
// CHECK-LABEL: define internal ptr @thread(
// CHECK:       call {{.*}} @__atomfix_{{record_begin|gate_access}}(

// CHECK-LABEL: define internal void @add(
// CHECK-NOT:   @__atomfix
// CHECK:       ret void

// The nodes are there all the same.
// EXTRACT: function add@escape.c
// EXTRACT: read stream::+0 ->
