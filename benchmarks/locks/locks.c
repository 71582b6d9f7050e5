// What an acquire and its release cost: ours, pthread's and a bare compare-and-swap, alone and among threads.
//
// Prints lines of `what TAB threads TAB nanoseconds`. Alone: processor time of the thread, the least of many batches, so that other
// load on the machine shows little; the ways take turns, so that moments in which the core's other hyperthread is idle come to all.
// Among threads: wall time per operation, all threads together, and processor time per operation (`what, CPU`), each the median of
// rounds in which the ways alternate.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The table of locks and the hooks, as injection knows them.
enum { LOCKS = 16, BATCH = 20000, TURNS = 30, BATCHES = 5, MOST = 8, ROUNDS = 9 };
typedef struct {
  unsigned char bytes[64];
} atomfix_lock __attribute__((aligned(64)));
atomfix_lock __atomfix_locks[LOCKS];
uint32_t __atomfix_lock_count = LOCKS;
const char *__atomfix_lock_names[LOCKS + 1];
void __atomfix_acquire(void *lock, uint32_t mode, uint32_t label, void *frame);
uint64_t __atomfix_glance(void *lock);
void __atomfix_release(void *lock, uint32_t label, void *frame);
void __atomfix_degrade(void *lock, uint32_t label, void *frame);
enum { R = 1, U = 2, X = 3 };

// One of each per thread at most, each on a line of its own.
static struct {
  pthread_mutex_t mutex;
  pthread_rwlock_t rwlock;
  atomic_int bare;
} __attribute__((aligned(256))) others[MOST];

static double time_of(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#define ALONE(what, ...) \
  do { \
    static double least = 1e18; \
    for (int batch = 0; batch < BATCHES; batch++) { \
      double from = time_of(CLOCK_THREAD_CPUTIME_ID); \
      for (int i = 0; i < BATCH; i++) { \
        __VA_ARGS__; \
      } \
      double took = (time_of(CLOCK_THREAD_CPUTIME_ID) - from) / BATCH; \
      if (took < least) least = took; \
    } \
    if (last) printf("%s\t1\t%.2f\n", what, least); \
  } while (0)

static void alone(int last) {
  char marker;
  void *frame = &marker;
  atomfix_lock *l = __atomfix_locks;
  ALONE("ours X", __atomfix_acquire(l, X, 1, frame); __atomfix_release(l, 1, frame));
  ALONE("ours U", __atomfix_acquire(l + 1, U, 1, frame); __atomfix_release(l + 1, 1, frame));
  ALONE("ours R", __atomfix_acquire(l + 2, R, 1, frame); __atomfix_release(l + 2, 1, frame));
  // What injection makes of a region that is one load; a lock nobody wrote under.
  ALONE("ours R, one load", uint64_t token = __atomfix_glance(l + 2); atomic_thread_fence(memory_order_acquire); if (*(volatile uint64_t *)(l[2].bytes + 24) != ~token) abort());
  // A lock whose bias has ended too often to come back (bytes 14 and 15).
  memset(l[3].bytes + 14, 1, 2);
  ALONE("ours X, no bias", __atomfix_acquire(l + 3, X, 1, frame); __atomfix_release(l + 3, 1, frame));
  memset(l[4].bytes + 14, 1, 2);
  ALONE("ours U to X", __atomfix_acquire(l + 4, U, 1, frame); __atomfix_acquire(l + 4, X, 2, frame); __atomfix_release(l + 4, 2, frame));
  ALONE("ours X to R", __atomfix_acquire(l + 4, X, 1, frame); __atomfix_degrade(l + 4, 1, frame); __atomfix_release(l + 4, 1, frame));
  char outer;
  __atomfix_acquire(l, X, 9, &outer);
  ALONE("ours X in X", __atomfix_acquire(l, X, 1, frame); __atomfix_release(l, 1, frame));
  ALONE("ours X in another lock", __atomfix_acquire(l + 5, X, 1, frame); __atomfix_release(l + 5, 1, frame));
  __atomfix_release(l, 9, &outer);
  ALONE("pthread mutex", pthread_mutex_lock(&others[0].mutex); pthread_mutex_unlock(&others[0].mutex));
  ALONE("pthread rwlock read", pthread_rwlock_rdlock(&others[0].rwlock); pthread_rwlock_unlock(&others[0].rwlock));
  ALONE("pthread rwlock write", pthread_rwlock_wrlock(&others[0].rwlock); pthread_rwlock_unlock(&others[0].rwlock));
  ALONE("compare-and-swap", int free = 0; atomic_compare_exchange_strong(&others[0].bare, &free, 1); atomic_store_explicit(&others[0].bare, 0, memory_order_release));
}

enum way { OURS, MUTEX, RWLOCK };

struct worker {
  enum way way;
  int lock;
  unsigned writes;  // of 10 operations
  atomic_int *stop;
  unsigned long operations;
  pthread_t thread;
} __attribute__((aligned(128)));

static void *work(void *argument) {
  struct worker *worker = argument;
  unsigned random = (unsigned)((uintptr_t)argument >> 7);
  char marker;
  unsigned long operations = 0;
  while (!atomic_load_explicit(worker->stop, memory_order_relaxed)) {
    for (int i = 0; i < 100; i++) {
      random = random * 1103515245 + 12345;
      int write = (random >> 16) % 10 < worker->writes;
      switch (worker->way) {
        case OURS:
          __atomfix_acquire(__atomfix_locks + 8 + worker->lock, write ? X : R, 1, &marker);
          __atomfix_release(__atomfix_locks + 8 + worker->lock, 1, &marker);
          break;
        case MUTEX:
          pthread_mutex_lock(&others[worker->lock].mutex);
          pthread_mutex_unlock(&others[worker->lock].mutex);
          break;
        case RWLOCK:
          if (write) {
            pthread_rwlock_wrlock(&others[worker->lock].rwlock);
          } else {
            pthread_rwlock_rdlock(&others[worker->lock].rwlock);
          }
          pthread_rwlock_unlock(&others[worker->lock].rwlock);
      }
      operations++;
    }
  }
  worker->operations = operations;
  return 0;
}

struct cost {
  double wall, cpu;
};

static struct cost among(int threads, enum way way, unsigned writes, int spread) {
  static struct worker workers[MOST];
  atomic_int stop = 0;
  memset(__atomfix_locks + 8, 0, 8 * sizeof *__atomfix_locks);  // locks without a past
  for (int i = 0; i < threads; i++) {
    workers[i] = (struct worker){.way = way, .lock = spread ? i : 0, .writes = writes, .stop = &stop};
    if (pthread_create(&workers[i].thread, 0, work, &workers[i])) abort();
  }
  double from = time_of(CLOCK_MONOTONIC), before = time_of(CLOCK_PROCESS_CPUTIME_ID);
  struct timespec length = {0, 100000000};
  nanosleep(&length, 0);
  atomic_store(&stop, 1);
  unsigned long operations = 0;
  for (int i = 0; i < threads; i++) {
    pthread_join(workers[i].thread, 0);
    operations += workers[i].operations;
  }
  return (struct cost){
      (time_of(CLOCK_MONOTONIC) - from) / (double)operations,
      (time_of(CLOCK_PROCESS_CPUTIME_ID) - before) / (double)operations,
  };
}

static int compare(const void *a, const void *b) { return *(const double *)a < *(const double *)b ? -1 : 1; }

int main(void) {
  for (int i = 0; i < MOST; i++) {
    pthread_mutex_init(&others[i].mutex, 0);
    pthread_rwlock_init(&others[i].rwlock, 0);
  }
  for (int turn = 1; turn <= TURNS; turn++) alone(turn == TURNS);
  static const char *const ways[] = {"ours", "pthread mutex", "pthread rwlock"};
  static const struct {
    const char *name;
    unsigned writes;
    int spread;
  } loads[] = {{"read", 0, 0}, {"90/10", 1, 0}, {"write", 10, 0}, {"write, own locks", 10, 1}};
  for (size_t load = 0; load < sizeof loads / sizeof *loads; load++) {
    for (int threads = 2; threads <= MOST; threads *= 2) {
      double rounds[3][ROUNDS], times[3][ROUNDS];
      for (int round = 0; round < ROUNDS; round++) {
        for (enum way way = OURS; way <= RWLOCK; way++) {
          struct cost cost = among(threads, way, loads[load].writes, loads[load].spread);
          rounds[way][round] = cost.wall;
          times[way][round] = cost.cpu;
        }
      }
      for (enum way way = OURS; way <= RWLOCK; way++) {
        qsort(rounds[way], ROUNDS, sizeof(double), compare);
        qsort(times[way], ROUNDS, sizeof(double), compare);
        printf("%s %s\t%d\t%.2f\n", ways[way], loads[load].name, threads, rounds[way][ROUNDS / 2]);
        printf("%s %s, CPU\t%d\t%.2f\n", ways[way], loads[load].name, threads, times[way][ROUNDS / 2]);
      }
    }
  }
  return 0;
}
