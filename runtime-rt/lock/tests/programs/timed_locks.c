// The waits for locks of the program that end at a time: the owner of each waits for our lock, which its holder gives up before it
// waits for that one, or, should the owner be late, at an inspection.
// languages: c c++
// stats: cycle|program-lock=6
#include "hooks.h"
enum { CALLS = 6 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int owned, call;
static const struct timespec at_last = {4000000000, 0};
static void take(void) {
  switch (call) {
    case 1: case 2: CHECK(!pthread_mutex_lock(&mutex)); break;
    case 3: case 4: CHECK(!pthread_rwlock_wrlock(&lock)); break;
    case 5: CHECK(!pthread_rwlock_tryrdlock(&lock)); break;
    default: CHECK(!pthread_rwlock_rdlock(&lock));
  }
}
static int want(void) {
  switch (call) {
    case 1: return pthread_mutex_timedlock(&mutex, &at_last);
    case 2: return pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &at_last);
    case 3: return pthread_rwlock_timedrdlock(&lock, &at_last);
    case 4: return pthread_rwlock_clockrdlock(&lock, CLOCK_MONOTONIC, &at_last);
    case 5: return pthread_rwlock_timedwrlock(&lock, &at_last);
    default: return pthread_rwlock_clockwrlock(&lock, CLOCK_MONOTONIC, &at_last);
  }
}
static void give(void) {
  if (call <= 2) {
    CHECK(!pthread_mutex_unlock(&mutex));
  } else {
    CHECK(!pthread_rwlock_unlock(&lock));
  }
}
static void *owner(void *unused) {
  FRAME;
  take();
  raise_flag(&owned);
  ACQUIRE(0, X, 2);
  RELEASE(0, 2);
  give();
  return unused;
}
int main(void) {
  FRAME;
  for (int i = 1; i <= CALLS; i++) {
    call = i;
    ACQUIRE(0, X, 1);
    owned = 0;
    pthread_t thread = start(owner, 0);
    await(&owned);
    CHECK(!want());
    give();
    RELEASE(0, 1);
    finish(thread);
  }
  return 0;
}
