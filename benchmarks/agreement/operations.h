// One operation of a random program: the numbers of `Code` in `source.rs`. `body` and `at` say whose it is; REGISTER are its thread's.
#define _GNU_SOURCE
#include "state.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

extern pthread_mutex_t mutex;
extern pthread_rwlock_t lock;
extern pthread_cond_t condition;
extern sem_t semaphore;
extern pthread_barrier_t barrier;
void *thread(void *body);

struct thing {
  long value;
  char rest[PAGE - sizeof(long)];
};

static inline void put(int pipe, long value) {
  struct thing thing = {.value = value};
  // It puts all or nothing, when a signal comes before there is room.
  if (write(ends[pipe][1], &thing, sizeof thing) != sizeof thing && errno != EINTR) abort();
}

// What is there, and -1 for nothing.
static inline long get(int end) {
  struct thing thing;
  return read(end, &thing, sizeof thing) == sizeof thing ? thing.value : -1;
}

static inline long await(int first, int second, int timed) {
  struct pollfd polled[] = {{.fd = ends[first][0], .events = POLLIN}, {.fd = ends[second][0], .events = POLLIN}};
  int ready = poll(polled, 2, timed ? 1000 : -1);
  if (ready < 0 && errno != EINTR) abort();
  if (ready < 1) return 0;
  return (polled[0].revents & POLLIN ? 1 : 0) + (polled[1].revents & POLLIN ? 2 : 0);
}

// What a thread does that was cancelled.
static inline void cancelled(void *body) { ended((int)(long)body); }

static inline sigset_t the_signal(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}

static inline void mask(int blocks) {
  sigset_t set = the_signal();
  pthread_sigmask(blocks ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

static inline int take_signal(int timed) {
  sigset_t set = the_signal();
  struct timespec second = {.tv_sec = 1};
  return sigtimedwait(&set, NULL, timed ? &second : NULL) == SIGUSR1;
}

// Reads in sight of the hooks: what the end of the process shows is shared with who wrote it.
static inline void at_exit(void) { exited(variables[0], variables[1]); }

#define REGISTER(n) registers[body][n]
// Virtual time begins earlier.
#define LATER ((struct timespec){.tv_sec = 2000000000})

#define READ(v, r) (REGISTER(r) = variables[v])
#define LOAD(v, r) (REGISTER(r) = __atomic_load_n(&variables[v], __ATOMIC_SEQ_CST))
#define WRITE(v, value) (variables[v] = (value))
#define STORE(v, value) __atomic_store_n(&variables[v], (value), __ATOMIC_SEQ_CST)
#define ADD(v, amount) __atomic_fetch_add(&variables[v], (amount), __ATOMIC_SEQ_CST)
#define SWAP(v, old, new, r)                                                                                                            \
  do {                                                                                                                                  \
    long expected = (old);                                                                                                              \
    REGISTER(r) = __atomic_compare_exchange_n(&variables[v], &expected, (new), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                  \
  } while (0)
#define LOCK(m) ((m) ? pthread_rwlock_wrlock(&lock) : pthread_mutex_lock(&mutex))
#define TRY(m, r) (REGISTER(r) = !((m) ? pthread_rwlock_trywrlock(&lock) : pthread_mutex_trylock(&mutex)))
#define LOCK_SHARED() pthread_rwlock_rdlock(&lock)
#define UNLOCK(m) ((m) ? pthread_rwlock_unlock(&lock) : pthread_mutex_unlock(&mutex))
#define WAIT() pthread_cond_wait(&condition, &mutex)
#define WAIT_TIMED(r)                                                                                                                   \
  do {                                                                                                                                  \
    struct timespec later = LATER;                                                                                                      \
    if (pthread_cond_timedwait(&condition, &mutex, &later) == ETIMEDOUT) REGISTER(r) = 1;                                               \
  } while (0)
#define SIGNAL() pthread_cond_signal(&condition)
#define BROADCAST() pthread_cond_broadcast(&condition)
#define POST() sem_post(&semaphore)
#define TAKE() sem_wait(&semaphore)
#define CREATE(b)                                                                                                                       \
  do {                                                                                                                                  \
    pthread_create(&threads[b], NULL, thread, (void *)(long)(b));                                                                       \
    created(b);                                                                                                                         \
  } while (0)
#define MEET(r) (REGISTER(r) = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
#define FUTEX(v, value, timed, r)                                                                                                       \
  do {                                                                                                                                  \
    struct timespec second = {.tv_sec = 1};                                                                                             \
    long result = syscall(SYS_futex, &variables[v], FUTEX_WAIT_PRIVATE, (int)(value), (timed) ? &second : NULL, NULL, 0);               \
    REGISTER(r) = result == 0 ? 1 : errno == ETIMEDOUT ? 2 : 0;                                                                         \
  } while (0)
#define WAKE(v, count, r) (REGISTER(r) = syscall(SYS_futex, &variables[v], FUTEX_WAKE_PRIVATE, (int)(count), NULL, NULL, 0))
#define LOCK_TIMED(m, r)                                                                                                                \
  do {                                                                                                                                  \
    struct timespec later = LATER;                                                                                                      \
    REGISTER(r) = ((m) ? pthread_rwlock_timedwrlock(&lock, &later) : pthread_mutex_timedlock(&mutex, &later)) == ETIMEDOUT;             \
  } while (0)
#define TAKE_TIMED(r)                                                                                                                   \
  do {                                                                                                                                  \
    struct timespec later = LATER;                                                                                                      \
    REGISTER(r) = sem_timedwait(&semaphore, &later) != 0;                                                                               \
  } while (0)
#define TRY_TAKE(r) (REGISTER(r) = sem_trywait(&semaphore) == 0)
#define PUT(p, value) put(p, value)
#define GET(p, r) (REGISTER(r) = get(ends[p][0]))
#define TRY_GET(p, r) (REGISTER(r) = get(tries[p]))
#define MOVE(p, q, r) (REGISTER(r) = splice(ends[p][0], NULL, ends[q][1], NULL, PAGE, SPLICE_F_NONBLOCK) > 0)
#define AWAIT(p, q, r, timed) (REGISTER(r) = await(p, q, timed))
#define KILL(b) pthread_kill(threads[b], SIGUSR1)
#define CANCEL(b) pthread_cancel(threads[b])
#define MASK(blocks) mask(blocks)
#define TAKE_SIGNAL(r, timed) (REGISTER(r) = take_signal(timed))
#define HANDLER                                                                                                                         \
  static void handler(int signal) {                                                                                                     \
    (void)signal;                                                                                                                       \
    ADD(0, 4);                                                                                                                          \
  }
#define HANDLE(restart) sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler, .sa_flags = (restart) ? SA_RESTART : 0}, NULL)
#define BEGIN() (begin(), pthread_barrier_init(&barrier, NULL, 2), atexit(at_exit))
#define JOIN(b) pthread_join(threads[b], NULL)
