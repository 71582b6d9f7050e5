// Every other primitive, used right.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spin;
static pthread_key_t key;
static sem_t semaphore;
static int initialized, destroyed, value;
static void initialize(void) { initialized++; }
static void destroy(void *which) { destroyed += *(int *)which; }
static void *work(void *unused) {
  static int one = 1;
  pthread_once(&once, initialize);
  pthread_setspecific(key, &one);
  pthread_rwlock_wrlock(&lock);
  value++;
  pthread_rwlock_unlock(&lock);
  pthread_barrier_wait(&barrier);
  pthread_rwlock_rdlock(&lock);
  assert(value == 2);
  pthread_rwlock_unlock(&lock);
  sched_yield();
  sem_post(&semaphore);
  return unused;
}
static void *leave(void *unused) {
  pthread_exit(&value);
  return unused;
}
int main(void) {
  pthread_t t, u;
  void *result;
  struct timespec before, after;
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_spin_init(&spin, 0);
  pthread_key_create(&key, destroy);
  sem_init(&semaphore, 0, 0);
  pthread_create(&t, NULL, work, NULL);
  work(NULL);
  sem_wait(&semaphore);
  sem_wait(&semaphore);
  pthread_join(t, NULL);
  assert(initialized == 1 && destroyed == 1);
  assert(sem_trywait(&semaphore) == -1 && errno == EAGAIN);
  pthread_spin_lock(&spin);
  assert(pthread_spin_trylock(&spin) == EBUSY);
  pthread_spin_unlock(&spin);
  pthread_create(&u, NULL, leave, NULL);
  pthread_join(u, &result);
  assert(result == &value);
  clock_gettime(CLOCK_MONOTONIC, &before);
  sleep(3600);
  clock_gettime(CLOCK_MONOTONIC, &after);
  assert(after.tv_sec - before.tv_sec == 3600);
}
