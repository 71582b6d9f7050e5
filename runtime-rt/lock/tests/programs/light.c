// Many readers, so that the lock becomes LIGHT again and again, and a writer now and then.
// stats: none
#include "hooks.h"
enum { READERS = 2, WRITES = 30 };
static long a, b;
static volatile int stop;
static int lights;
static void *reader(void *unused) {
  while (!stop) {
    FRAME;
    ACQUIRE(0, R, 1);
    CHECK(*(volatile long *)&a == *(volatile long *)&b);
    RELEASE(0, 1);
  }
  return unused;
}
int main(void) {
  pthread_t readers[READERS];
  for (int i = 0; i < READERS; i++) readers[i] = start(reader, 0);
  for (int i = 0; i < WRITES; i++) {
    FRAME;
    ACQUIRE(0, i % 2 ? X : U, 2);
    ACQUIRE(0, X, 3);
    a++;
    for (volatile int j = 0; j < 100; j++) {
    }
    b++;
    RELEASE(0, 3);
    // Until readers have made it LIGHT once more: bit 6 of the state word.
    for (int j = 0; j < 300 && !(*(volatile unsigned char *)LOCK(0) & 64); j++) doze(1);
    lights += (*(volatile unsigned char *)LOCK(0) & 64) != 0;
  }
  stop = 1;
  for (int i = 0; i < READERS; i++) finish(readers[i]);
  CHECK(a == WRITES && lights > 0);
  return 0;
}
