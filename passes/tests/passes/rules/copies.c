// Struct copies go by parts after promotion; each part keeps its field.
// RUN: extract CHECK
struct inner { long a, b; };
struct outer { long head; struct inner in; };
void take(struct outer *p) {
  struct inner copy = p->in;
  copy.b++;
  p->in = copy;
}
// CHECK:      function take
// CHECK-NEXT: n0 block -> n1
// CHECK-NEXT: n1 read outer::+8 -> n2
// CHECK-NEXT: n2 read outer::+16 -> n3
// CHECK-NEXT: n3 write outer::+8 -> n4
// CHECK-NEXT: n4 write outer::+16 -> n5

void both(char *to, char *from, unsigned long n) {
  __builtin_memcpy(to, from, n);
  *to = 1;
  *from = 2;
}
// The two ends of a copy are two places.
// CHECK:      function both
// CHECK:      n1 call llvm.memcpy [read *[[FROM:s[0-9a-f]+]]] [write *[[TO:s[0-9a-f]+]]] -> n2
// CHECK-NEXT: n2 write *[[TO]] -> n3
// CHECK-NEXT: n3 write *[[FROM]] -> n4
