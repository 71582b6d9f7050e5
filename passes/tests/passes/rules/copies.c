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
