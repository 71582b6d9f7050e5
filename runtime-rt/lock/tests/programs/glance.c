// Loads that are all there is to a region: readers that only glance never see a writer's half, whether it enters, upgrades, lets
// readers in for a while, or has a bias that others end; a thread that has something of the lock does not glance.
// stats: none
#include "hooks.h"
enum { READERS = 2, WRITES = 3000, LAST = 24 };
static volatile long number;
static volatile int stop;
static unsigned long held[READERS];

// As injection has it inline: whether the glance held.
static int look(long *value) {
  uint64_t token = __atomfix_glance(LOCK(0));
  *value = number;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return __atomic_load_n((uint64_t *)(LOCK(0)->bytes + LAST), __ATOMIC_RELAXED) == ~token;
}

static void *reader(void *index) {
  long value;
  while (!stop) {
    if (look(&value)) {
      CHECK(value % 2 == 0);
      __atomic_fetch_add(&held[(intptr_t)index], 1, __ATOMIC_RELAXED);
    } else {
      FRAME;
      ACQUIRE(0, R, 1);
      CHECK(number % 2 == 0);
      RELEASE(0, 1);
    }
  }
  return 0;
}

static void write_twice(void) {
  number = number + 1;
  number = number + 1;
}

int main(void) {
  FRAME;
  long value;
  CHECK(!look(&value));  // a thread is known from its first acquire on
  ACQUIRE(1, R, 1);
  RELEASE(1, 1);
  for (uint32_t mode = R; mode <= X; mode++) {
    CHECK(look(&value));
    ACQUIRE(0, mode, 1);
    CHECK(!look(&value) && !__atomfix_glance(LOCK(0)));
    // Of another lock it may have what it likes.
    CHECK(__atomfix_glance(LOCK(1)));
    RELEASE(0, 1);
  }
  // Alone for so long that the lock is biased to this thread, which may glance then.
  for (int i = 0; i < 300; i++) {
    ACQUIRE(0, X, 1);
    write_twice();
    RELEASE(0, 1);
  }
  CHECK((LOCK(0)->bytes[0] & 128) == 0 || look(&value));

  pthread_t readers[READERS];
  for (intptr_t i = 0; i < READERS; i++) readers[i] = start(reader, (void *)i);
  for (int i = 0; i < WRITES; i++) {
    ACQUIRE(0, i % 2 ? X : U, 2);
    ACQUIRE(0, X, 3);
    write_twice();
    if (i % 3 == 0) __atomfix_degrade_to_update(LOCK(0), 3, frame);
    if (i % 3 == 1) DEGRADE(0, 3);
    if (i % 3 == 0) {
      ACQUIRE(0, X, 3);
      write_twice();
    }
    RELEASE(0, 3);
    if (i % 64 == 0) doze(1);
  }
  for (int i = 0; i < READERS; i++) {
    while (!__atomic_load_n(&held[i], __ATOMIC_RELAXED)) doze(1);
  }
  stop = 1;
  for (int i = 0; i < READERS; i++) finish(readers[i]);
  CHECK(number == 2 * (300 + WRITES + WRITES / 3));
  return 0;
}
