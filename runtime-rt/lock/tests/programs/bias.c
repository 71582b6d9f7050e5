// A thread that a lock has become biased to meets others that want it, in every mode and in the middle of everything it does.
// stats: none
#include "hooks.h"
enum { ROUNDS = 60, OTHERS = 2 };
static long a, b;  // equal whenever nobody writes
static volatile int go, stop;
static unsigned unbiased;
__attribute__((noinline)) static void write_both(void) {
  FRAME;
  ACQUIRE(0, X, 5);
  a++;
  b++;
  RELEASE(0, 5);
}
__attribute__((noinline)) static void read_both(void) {
  FRAME;
  ACQUIRE(0, R, 6);
  CHECK(*(volatile long *)&a == *(volatile long *)&b);
  RELEASE(0, 6);
}
static void step(unsigned kind) {
  FRAME;
  switch (kind % 6) {
    case 0:
      write_both();
      break;
    case 1:
      ACQUIRE(0, U, 1);
      CHECK(*(volatile long *)&a == *(volatile long *)&b);
      write_both();  // a stronger hold nested in it
      CHECK(*(volatile long *)&a == *(volatile long *)&b);
      RELEASE(0, 1);
      break;
    case 2:
      ACQUIRE(0, X, 2);
      a++;
      b++;
      DEGRADE(0, 2);
      read_both();
      RELEASE(0, 2);
      break;
    case 3:
      ACQUIRE(0, U, 3);
      ACQUIRE(0, X, 4);
      read_both();
      a++;
      b++;
      read_both();
      RELEASE(0, 4);
      break;
    default:
      read_both();
  }
}
static void *favored(void *unused) {
  for (int i = 0; i < 600; i++) step(0);
  raise_flag(&go);
  for (unsigned i = 0; !stop; i++) step(i);
  return unused;
}
static void *other(void *number) {
  await(&go);
  for (unsigned i = 0; i < 30; i++) step(i * 5 + (unsigned)(uintptr_t)number);
  return 0;
}
int main(void) {
  for (int round = 0; round < ROUNDS; round++) {
    memset(LOCK(0), 0, sizeof *LOCK(0));  // nobody is there: a lock without a past
    go = stop = 0;
    pthread_t first = start(favored, 0), others[OTHERS];
    for (uintptr_t i = 0; i < OTHERS; i++) others[i] = start(other, (void *)i);
    for (int i = 0; i < OTHERS; i++) finish(others[i]);
    stop = 1;
    finish(first);
    CHECK(a == b);
    unbiased += ((unsigned *)LOCK(0))[7];  // how often a bias ended
  }
  CHECK(unbiased >= ROUNDS / 2);
  return 0;
}
