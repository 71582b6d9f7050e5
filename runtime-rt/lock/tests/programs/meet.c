// Regions held across a semaphore and a barrier. A semaphore with a count left gives nothing up.
// languages: c c++
// stats: meet=2
#include <semaphore.h>
#include "hooks.h"
static sem_t semaphore;
static pthread_barrier_t barrier;
static volatile int go;
static void *body(void *unused) {
  FRAME;
  await(&go);
  ACQUIRE(0, X, 2);
  sem_post(&semaphore);
  RELEASE(0, 2);
  ACQUIRE(1, X, 3);
  RELEASE(1, 3);
  pthread_barrier_wait(&barrier);
  return unused;
}
int main(void) {
  FRAME;
  sem_init(&semaphore, 0, 1);
  pthread_barrier_init(&barrier, 0, 2);
  pthread_t thread = start(body, 0);
  ACQUIRE(1, X, 1);
  errno = 77;
  CHECK(!sem_wait(&semaphore) && errno == 77);
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  ACQUIRE(0, X, 1);
  raise_flag(&go);
  CHECK(!sem_wait(&semaphore));
  RELEASE(0, 1);
  ACQUIRE(1, X, 1);
  pthread_barrier_wait(&barrier);
  RELEASE(1, 1);
  finish(thread);
  return 0;
}
