// A random plan without any order, over a program that takes mutexes, signals conditions, uses pipes and sleeps: it ends, with the
// program's own result. The seed is printed, so that a run that fails can be had again: SEED=… in the environment.
// languages: c c++
// stats: any
// options: inspect_ms=3
#include <poll.h>
#include <semaphore.h>
#include "hooks.h"
enum { WORKERS = 4, STEPS = 150, ITEMS = WORKERS * STEPS };
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int ends[2], given, received;
static long sums[2], shared_sum;

static unsigned next(unsigned *random) {
  *random = *random * 1103515245u + 12345u;
  return *random >> 16;
}
static void plan(unsigned *random, void *frame) {
  unsigned r = next(random);
  int n = (int)(r % 4);
  uint32_t label = r / 4 % 8;
  switch (r / 32 % 8) {
    case 0: case 1: ACQUIRE(n, R, label); break;
    case 2: ACQUIRE(n, U, label); break;
    case 3: case 4: ACQUIRE(n, X, label); break;
    case 5: DEGRADE(n, label); break;
    default: RELEASE(n, label);
  }
}
// Orders its own locks; so the program alone never deadlocks.
static void work(unsigned *random, int depth) {
  FRAME;
  plan(random, frame);
  plan(random, frame);
  switch (next(random) % 9) {
    case 0: {
      pthread_mutex_lock(&mutexes[0]);
      plan(random, frame);
      pthread_mutex_lock(&mutexes[1]);
      plan(random, frame);
      sums[0]++;
      sums[1]++;
      pthread_mutex_unlock(&mutexes[1]);
      pthread_mutex_unlock(&mutexes[0]);
      break;
    }
    case 1:
      pthread_mutex_lock(&mutexes[1]);
      plan(random, frame);
      sums[1]++;
      pthread_mutex_unlock(&mutexes[1]);
      break;
    case 2:
      pthread_rwlock_wrlock(&rwlock);
      plan(random, frame);
      shared_sum++;
      pthread_rwlock_unlock(&rwlock);
      break;
    case 3: {
      pthread_rwlock_rdlock(&rwlock);
      plan(random, frame);
      pthread_rwlock_unlock(&rwlock);
      break;
    }
    case 4: usleep(50); break;
    case 5: {
      char byte;
      CHECK(write(ends[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 1);
      break;
    }
    case 6: sem_post(&semaphore); break;
    default:
      if (depth > 0) work(random, depth - 1);
  }
  plan(random, frame);
  __atomfix_unwind(frame);  // as an injected exit does; what is left over is an error of no plan that we make
}
static void *worker(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < STEPS; i++) {
    FRAME;
    plan(&random, frame);
    work(&random, 2);
    pthread_mutex_lock(&gate);
    given++;
    plan(&random, frame);
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&gate);
    __atomfix_unwind(frame);
  }
  return 0;
}
static void *receiver(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  FRAME;
  pthread_mutex_lock(&gate);
  while (received < ITEMS) {
    plan(&random, frame);
    while (given == received) pthread_cond_wait(&condition, &gate);
    received = given;
    plan(&random, frame);
  }
  pthread_mutex_unlock(&gate);
  return 0;
}
int main(void) {
  const char *given_seed = getenv("SEED");
  unsigned seed = given_seed ? (unsigned)atol(given_seed) : (unsigned)getpid() * 2654435761u ^ (unsigned)(now() * 1e6);
  printf("SEED=%u\n", seed);
  CHECK(!pipe(ends));
  sem_init(&semaphore, 0, 0);
  pthread_t last = start(receiver, (void *)(uintptr_t)(seed + 99)), workers[WORKERS];
  for (unsigned i = 0; i < WORKERS; i++) workers[i] = start(worker, (void *)(uintptr_t)(seed + i));
  FRAME;
  plan(&seed, frame);
  for (int i = 0; i < WORKERS; i++) finish(workers[i]);
  finish(last);
  CHECK(received == ITEMS && sums[1] >= sums[0]);
  return 0;
}
