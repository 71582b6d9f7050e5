// Regions held across the waits for a condition, a semaphore or a thread that end at a time, while the thread that ends them needs the
// lock. A thread that has ended, and a semaphore with a count left, give nothing up.
// languages: c c++
// stats: condition=2 meet=2 join=2
#include <semaphore.h>
#include "takes_turns.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static int ready;
static const struct timespec at_last = {4000000000, 0};
static void let_go(int call) {
  if (call <= 2) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
  } else if (call <= 4) {
    CHECK(!sem_post(&semaphore));
  }
}
static void *needs_it(void *unused) {
  FRAME;
  ACQUIRE(0, X, 3);
  RELEASE(0, 3);
  return unused;
}
static volatile int number;
static void *ends(void *result) {
  __atomic_store_n(&number, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
  return result;
}
static void wait_in(int call) {
  pthread_t thread = call > 4 ? start(needs_it, 0) : pthread_self();
  if (call <= 2) pthread_mutex_lock(&mutex);
  switch (call) {
    case 1:
      while (!ready) CHECK(!pthread_cond_timedwait(&condition, &mutex, &at_last));
      break;
    case 2:
      while (!ready) CHECK(!pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &at_last));
      break;
    case 3: CHECK(!sem_timedwait(&semaphore, &at_last)); break;
    case 4: CHECK(!sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at_last)); break;
    case 5: CHECK(!pthread_timedjoin_np(thread, 0, &at_last)); break;
    default: CHECK(!pthread_clockjoin_np(thread, 0, CLOCK_MONOTONIC, &at_last));
  }
  if (call > 2) return;
  ready = 0;
  pthread_mutex_unlock(&mutex);
}
int main(void) {
  FRAME;
  void *result;
  CHECK(!sem_init(&semaphore, 0, 2));
  pthread_t ended[2];
  for (int i = 0; i < 2; i++) {
    ended[i] = start(ends, &ready);
    // Until it is gone from the kernel's list.
    while (!__atomic_load_n(&number, __ATOMIC_ACQUIRE)) doze(1);
    while (!syscall(SYS_tgkill, getpid(), number, 0)) doze(1);
    number = 0;
  }
  ACQUIRE(1, X, 1);
  errno = 77;
  CHECK(!sem_timedwait(&semaphore, &at_last) && !sem_clockwait(&semaphore, CLOCK_MONOTONIC, &at_last));
  CHECK(!pthread_timedjoin_np(ended[0], &result, &at_last) && result == &ready);
  CHECK(!pthread_clockjoin_np(ended[1], &result, CLOCK_MONOTONIC, &at_last) && result == &ready && errno == 77);
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  take_turns(6, wait_in);
  return 0;
}
