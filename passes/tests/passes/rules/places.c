// Places: constant offsets in globals, elements, fields by typed GEP (chains add up, elements count as one), and pointers.
// RUN: extract CHECK
#include <pthread.h>
struct inner { int a, b; };
struct outer { long head; struct inner parts[4]; struct inner one; struct outer *next; pthread_mutex_t lock; };
struct outer table[8];
static int hidden[4];
int scalar;

void globals(int i) {
  scalar = 1;
  hidden[2] = 1;
  hidden[i] = 1;
  table[1].one.b = 1;
  table[i].one.b = 1;
}
// CHECK-LABEL: function globals
// CHECK: write scalar ->
// CHECK: write hidden@places.c+8 ->
// CHECK: write hidden@places.c[] ->
// CHECK: write table+140 ->
// CHECK: write table[]+44 ->

void fields(struct outer *p, int i) {
  p->head = 1;
  p->one.b = 1;
  p->parts[i].b = 1;
  p->parts[2].b = 1;
  p[i].next = 0;
  pthread_mutex_lock(&p->lock);
}
// CHECK-LABEL: function fields
// CHECK: write outer::+0 ->
// CHECK: write outer::+44 ->
// CHECK: write outer::+12 ->
// CHECK: write outer::+12 ->
// CHECK: write outer::+48 ->
// CHECK: call pthread_mutex_lock Lock(outer::+56) ->

void pointers(int *p, int *q) {
  *p = 1;
  p[1] = 1;
  *q = 1;
  *p = 2;
}
// CHECK-LABEL: function pointers
// CHECK:      write *[[P:s[0-9a-f]+]] ->
// CHECK-NEXT: write *[[P1:s[0-9a-f]+]] ->
// CHECK-NEXT: write *[[Q:s[0-9a-f]+]] ->
// CHECK-NEXT: write *[[P]] ->
