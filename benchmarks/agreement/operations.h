// One operation of a random program: the numbers of `Code` in `source.rs`. `body` and `at` say whose it is; REGISTER are its thread's.
#include "state.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

extern pthread_mutex_t mutex;
extern pthread_rwlock_t lock;
extern pthread_cond_t condition;
extern sem_t semaphore;
void *thread(void *body);

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
#define BEGIN() (begin(), atexit(at_exit))
#define JOIN(b) pthread_join(threads[b], NULL)
