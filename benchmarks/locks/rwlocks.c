// The hooks of hardened code over pthread's reader-writer locks, to measure what our own locks are worth. Only benchmarks
// link this: unlike ours it gives locks up only where the plan says so, so one that waits under a lock may hang.
//
// U becomes X, which is what pthread offers; a hold that is to become stronger is given up first, as ours in R would be.
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(sizeof(pthread_rwlock_t) <= 64, "a lock's place in the table is too small");
enum { R = 1, HOLDS = 16 };

// One entry for each (lock, frame), as in docs/locks.md.
struct hold {
  pthread_rwlock_t *lock;
  void *frame;
  uint32_t label, mode;
};
static __thread struct hold holds[HOLDS];
static __thread unsigned used;

static struct hold *entry(pthread_rwlock_t *lock, void *frame) {
  for (unsigned i = used; i-- > 0;) {
    if (holds[i].lock == lock && (!frame || holds[i].frame == frame)) return &holds[i];
  }
  return NULL;
}

static uint32_t strongest(pthread_rwlock_t *lock) {
  uint32_t mode = 0;
  for (unsigned i = 0; i < used; i++) {
    if (holds[i].lock == lock && holds[i].mode > mode) mode = holds[i].mode;
  }
  return mode;
}

static void end(struct hold *hold) {
  pthread_rwlock_t *lock = hold->lock;
  *hold = holds[--used];
  if (!entry(lock, NULL)) pthread_rwlock_unlock(lock);
}

void __atomfix_acquire(void *place, uint32_t mode, uint32_t label, void *frame) {
  pthread_rwlock_t *lock = place;
  uint32_t held = strongest(lock);
  struct hold *mine = held ? entry(lock, frame) : NULL;
  if (!mine && used == HOLDS) return;
  if (held < mode && !(held > R)) {
    if (held) pthread_rwlock_unlock(lock);
    if (mode == R) {
      pthread_rwlock_rdlock(lock);
    } else {
      pthread_rwlock_wrlock(lock);
    }
  }
  if (mine) {
    mine->label = label;
    if (mode > mine->mode) mine->mode = mode;
  } else {
    holds[used++] = (struct hold){lock, frame, label, mode};
  }
}

void __atomfix_release(void *place, uint32_t label, void *frame) {
  struct hold *mine = entry(place, frame);
  if (mine && mine->label == label) end(mine);
}

// pthread's locks cannot be weakened: the hold stays as strong as it is.
void __atomfix_degrade(void *place, uint32_t label, void *frame) {
  (void)place, (void)label, (void)frame;
}

void __atomfix_degrade_to_update(void *place, uint32_t label, void *frame) {
  (void)place, (void)label, (void)frame;
}

// Nothing can be told without entering.
uint64_t __atomfix_glance(void *place) {
  (void)place;
  return 0;
}

void __atomfix_unwind(void *frame) {
  for (unsigned i = used; i-- > 0;) {
    if (holds[i].frame == frame) end(&holds[i]);
  }
}

void __atomfix_give_up(void) {
  while (used > 0) end(&holds[used - 1]);
}
