// C++: second names of constructors lead to the first, exceptions are edges, virtual calls go through a type, slots of
// virtual tables are no accesses.
// COMPILE: -O1
// RUN: extract CHECK
struct Shape { int sides; Shape(int n); virtual int area(); };
Shape::Shape(int n) : sides(n) {}
int use(Shape *s) {
  try { return s->area() + s->sides; } catch (...) { return 0; }
}
// CHECK:      function _ZN5ShapeC2Ei
// CHECK:      write Shape::+8 ->
// CHECK:      function _Z3useP5Shape
// CHECK-NEXT: n0 block -> n1 ;
// CHECK-NEXT: n1 read *{{s[0-9a-f]+}} -> n2 ;
// CHECK-NEXT: n2 call through i32 (ptr) -> n3, [[PAD:n[0-9]+]] ;
// CHECK:      read Shape::+8 ->
// CHECK:      [[PAD]] block ->
// CHECK:      function _ZN5ShapeC1Ei {{f[0-9a-f]+}} refused: it is a second name of a function
// CHECK-NEXT: n0 block -> n1 ;
// CHECK-NEXT: n1 call _ZN5ShapeC2Ei -> n2 ;
// CHECK-NEXT: n2 return ;
