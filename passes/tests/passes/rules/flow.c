// Control flow: blocks, branches, switches without repeats, loops, and the ends.
// RUN: extract CHECK
int x;
void stop(void) __attribute__((noreturn));
int flow(int n) {
  switch (n) {
  case 1: case 2: x = 1; break;
  case 3: stop();
  }
  while (x < n) x++;
  return x;
}
// CHECK:      function flow
// CHECK-NEXT: n0 block -> [[REST:n[0-9]+]], n1, n3 ;
// CHECK-NEXT: n1 block -> n2 ;
// CHECK-NEXT: n2 write x -> [[REST]] ;
// CHECK-NEXT: n3 block -> n4 ;
// CHECK-NEXT: n4 call stop -> n5 ;
// CHECK-NEXT: n5 stop ;
// CHECK-NEXT: [[REST]] block -> n7 ;
// CHECK-NEXT: n7 block -> n8 ;
// CHECK-NEXT: n8 read x -> n9, n12 ;
// CHECK-NEXT: n9 block -> n10 ;
// CHECK-NEXT: n10 read x -> n11 ;
// CHECK-NEXT: n11 write x -> n7 ;
// CHECK-NEXT: n12 block -> n13 ;
// CHECK-NEXT: n13 read x -> n14 ;
// CHECK-NEXT: n14 return ;
