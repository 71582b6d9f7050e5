// What provably belongs to one thread or never changes is left alone: no hook, no node, no frame.
// RUN: record CHECK
// RUN: gate CHECK
// RUN: extract EXTRACT
struct pair { int a, b; };
static const int table[4] = {1, 2, 3, 4};
static _Thread_local int mine;

int quiet(int i) {
  int local[4] = {0};
  struct pair p = {1, 2};
  local[i & 3] = table[i & 3];
  mine += local[1] + p.b;
  return mine;
}

int copied(struct pair p, struct { long a[9]; } big) {
  return p.a + (int)big.a[p.b];
}
// CHECK-LABEL: define {{.*}} @quiet(
// CHECK-NOT:   @__atomfix
// CHECK:       ret i32
// CHECK-LABEL: define {{.*}} @copied(
// CHECK-NOT:   @__atomfix
// CHECK:       ret i32

// EXTRACT:      function quiet
// EXTRACT-NEXT: n0 block -> n1
// EXTRACT-NEXT: n1 return
// EXTRACT:      function copied
// EXTRACT-NEXT: n0 block -> n1
// EXTRACT-NEXT: n1 return
