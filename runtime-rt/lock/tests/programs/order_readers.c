// T1 holds R(0) and wants R(1); T2 holds X(1) and wants X(0): a deadlock though one edge of the order is purely of reads.
// languages: c c++
// stats: cycle>=1
// options: inspect_ms=20
#include "hooks.h"
static volatile int held[2];
static void *reader(void *unused) {
  FRAME;
  ACQUIRE(0, R, 1);
  raise_flag(&held[0]);
  await(&held[1]);
  ACQUIRE(1, R, 2);
  RELEASE(1, 2);
  RELEASE(0, 1);
  return unused;
}
static void *writer(void *unused) {
  FRAME;
  ACQUIRE(1, X, 1);
  raise_flag(&held[1]);
  await(&held[0]);
  ACQUIRE(0, X, 2);
  RELEASE(0, 2);
  RELEASE(1, 1);
  return unused;
}
int main(void) {
  pthread_t first = start(reader, 0), second = start(writer, 0);
  finish(first);
  finish(second);
  return 0;
}
