// A writer among readers whose regions overlap at all times gets in, and nothing is revoked for it.
// languages: c c++
// stats: none
#include "hooks.h"
enum { READERS = 3 };
static volatile int stop, turn;
static void *reader(void *unused) {
  while (!stop) {
    FRAME;
    ACQUIRE(0, R, 1);
    // Leaves only when another one has entered, or none has for long: without an order some reader is always inside.
    int before = __atomic_add_fetch(&turn, 1, __ATOMIC_ACQ_REL);
    double longest = now() + 0.03;
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) == before && !stop && now() < longest) sched_yield();
    RELEASE(0, 1);
  }
  return unused;
}
int main(void) {
  pthread_t readers[READERS];
  for (int i = 0; i < READERS; i++) readers[i] = start(reader, 0);
  for (int i = 0; i < 10; i++) {
    FRAME;
    ACQUIRE(0, X, 2);
    RELEASE(0, 2);
    sched_yield();
  }
  stop = 1;
  for (int i = 0; i < READERS; i++) finish(readers[i]);
  return 0;
}
