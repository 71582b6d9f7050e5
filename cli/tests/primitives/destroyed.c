// Objects that were destroyed: using one is a failure, until it is initialized or assigned to again.
// case mutex: pass | misuse a synchronization object is used that was destroyed
// case mutex-try: misuse a synchronization object is used that was destroyed
// case mutex-timed: misuse a synchronization object is used that was destroyed
// case mutex-unlock: misuse a synchronization object is used that was destroyed
// case mutex-waited-for: pass | misuse a synchronization object is used that was destroyed
// case mutex-of-wait: pass | misuse a synchronization object is used that was destroyed
// case c11: misuse a synchronization object is used that was destroyed
// case condition: misuse a synchronization object is used that was destroyed
// case condition-waited-on: pass | misuse a synchronization object is destroyed that threads have or wait for | misuse a synchronization object is used that was destroyed
// case condition-woken: pass
// case rwlock: misuse a synchronization object is used that was destroyed
// case rwlock-held: misuse a synchronization object is destroyed that threads have or wait for
// case semaphore: misuse a synchronization object is used that was destroyed
// case semaphore-looked-at: misuse a synchronization object is used that was destroyed
// case semaphore-waited-for: misuse a synchronization object is used that was destroyed
// case semaphore-after-post: pass
// case barrier: misuse a synchronization object is used that was destroyed
// case barrier-left: pass
// case spin: misuse a synchronization object is used that was destroyed
// case twice: misuse a synchronization object is destroyed that was destroyed already
// case anew: pass
// case assigned: pass
// case memory: pass
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t b;
static pthread_spinlock_t p;
static sem_t s;
static int set;
static pthread_t t;
static void *lock(void *unused) {
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *wait(void *unused) {
  pthread_mutex_lock(&m);
  while (!set) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *wait_once(void *unused) {
  pthread_mutex_lock(&m);
  pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return unused;
}
static void *take(void *unused) {
  sem_wait(&s);
  return unused;
}
static void *post(void *unused) {
  sem_post(&s);
  return unused;
}
static void *meet(void *unused) {
  pthread_barrier_wait(&b);
  return unused;
}
static void start(void *(*routine)(void *)) { pthread_create(&t, NULL, routine, NULL); }
static void join(void) { pthread_join(t, NULL); }
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  const struct timespec later = {2000000000, 0};
  pthread_barrier_init(&b, NULL, 2);
  pthread_spin_init(&p, 0);
  sem_init(&s, 0, 0);
  int value;
  if (!strcmp(is, "mutex")) {
    start(lock);
    pthread_mutex_destroy(&m);
    join();
  } else if (!strcmp(is, "mutex-try")) {
    pthread_mutex_destroy(&m);
    pthread_mutex_trylock(&m);
  } else if (!strcmp(is, "mutex-timed")) {
    pthread_mutex_destroy(&m);
    pthread_mutex_timedlock(&m, &later);
  } else if (!strcmp(is, "mutex-unlock")) {
    pthread_mutex_destroy(&m);
    pthread_mutex_unlock(&m);
  } else if (!strcmp(is, "mutex-waited-for")) {
    pthread_mutex_lock(&m);
    start(lock);
    pthread_mutex_unlock(&m);
    while (pthread_mutex_destroy(&m)) {
    }
    join();
  } else if (!strcmp(is, "mutex-of-wait")) {
    start(wait);
    pthread_mutex_lock(&m);
    set = 1;
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    while (pthread_mutex_destroy(&m)) {
    }
    join();
  } else if (!strcmp(is, "c11")) {
    mtx_t own;
    mtx_init(&own, mtx_plain);
    mtx_destroy(&own);
    mtx_lock(&own);
  } else if (!strcmp(is, "condition")) {
    pthread_cond_destroy(&c);
    pthread_cond_signal(&c);
  } else if (!strcmp(is, "condition-waited-on")) {
    start(wait_once);
    pthread_mutex_lock(&m);
    pthread_cond_signal(&c);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    pthread_cond_destroy(&c);
    pthread_mutex_unlock(&m);
    join();
  } else if (!strcmp(is, "condition-woken")) {
    start(wait);
    pthread_mutex_lock(&m);
    set = 1;
    pthread_cond_broadcast(&c);
    pthread_cond_destroy(&c);
    pthread_mutex_unlock(&m);
    join();
  } else if (!strcmp(is, "rwlock")) {
    pthread_rwlock_destroy(&l);
    pthread_rwlock_rdlock(&l);
  } else if (!strcmp(is, "rwlock-held")) {
    pthread_rwlock_wrlock(&l);
    pthread_rwlock_destroy(&l);
  } else if (!strcmp(is, "semaphore")) {
    sem_destroy(&s);
    sem_post(&s);
  } else if (!strcmp(is, "semaphore-looked-at")) {
    sem_destroy(&s);
    sem_getvalue(&s, &value);
  } else if (!strcmp(is, "semaphore-waited-for")) {
    start(take);
    sem_destroy(&s);
    join();
  } else if (!strcmp(is, "semaphore-after-post")) {
    start(post);
    sem_wait(&s);
    sem_destroy(&s);
    join();
  } else if (!strcmp(is, "barrier")) {
    pthread_barrier_destroy(&b);
    pthread_barrier_wait(&b);
  } else if (!strcmp(is, "barrier-left")) {
    start(meet);
    pthread_barrier_wait(&b);
    pthread_barrier_destroy(&b);
    join();
  } else if (!strcmp(is, "spin")) {
    pthread_spin_destroy(&p);
    pthread_spin_lock(&p);
  } else if (!strcmp(is, "twice")) {
    pthread_rwlock_destroy(&l);
    pthread_rwlock_destroy(&l);
  } else if (!strcmp(is, "anew")) {
    pthread_mutex_destroy(&m);
    pthread_mutex_init(&m, NULL);
    pthread_cond_destroy(&c);
    pthread_cond_init(&c, NULL);
    pthread_rwlock_destroy(&l);
    pthread_rwlock_init(&l, NULL);
    pthread_barrier_destroy(&b);
    pthread_barrier_init(&b, NULL, 2);
    pthread_spin_destroy(&p);
    pthread_spin_init(&p, 0);
    sem_destroy(&s);
    sem_init(&s, 0, 1);
    sem_wait(&s);
    pthread_spin_lock(&p);
    pthread_rwlock_rdlock(&l);
    pthread_cond_signal(&c);
    lock(NULL);
    start(meet);
    meet(NULL);
    join();
  } else if (!strcmp(is, "assigned")) {
    pthread_mutex_destroy(&m);
    pthread_cond_destroy(&c);
    pthread_rwlock_destroy(&l);
    m = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    l = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    lock(NULL);
    pthread_cond_signal(&c);
    pthread_rwlock_rdlock(&l);
  } else if (!strcmp(is, "memory")) {
    // The same memory, again and again.
    for (int i = 0; i < 3; i++) {
      pthread_rwlock_t *own = calloc(1, sizeof *own);
      pthread_rwlock_wrlock(own);
      pthread_rwlock_unlock(own);
      pthread_rwlock_destroy(own);
      free(own);
    }
  }
  fflush(stdout);
}
