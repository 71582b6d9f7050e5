// What functions of threads read and write, where other threads write and read it without anything that orders them.
// case futex: 11 | deadlock-condition a thread waits for a signal that nobody is left to give
// case semaphore: 110 | 22
// case mutex: 110 | 22
// case condition: 110 | 22
// case state: 0 | 1
// case type: 0 | 7
// case sleep: 0 | -2
// covers sleep: what is seen
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static int word, result;
static volatile int told;
static struct timespec when = {1, 0};
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void *futex(void *unused) {
  result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0) ? errno : 0;
  return unused;
}
static void *take(void *unused) {
  result = sem_timedwait(&semaphore, &when) ? errno : 0;
  return unused;
}
static void *lock(void *unused) {
  result = pthread_mutex_timedlock(&taken, &when);
  return unused;
}
static void *wait(void *unused) {
  pthread_mutex_lock(&mutex);
  result = pthread_cond_timedwait(&condition, &mutex, &when);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void *doze(void *unused) {
  result = thrd_sleep(&when, NULL);
  return unused;
}
static void *look(void *unused) {
  result = told;
  return unused;
}
static void spoil(void) {
  volatile struct timespec *time = &when;
  time->tv_nsec = 2000000000;
  time->tv_nsec = 0;
}
int main(int count, char **arguments) {
  const char *name = arguments[count - 1];
  pthread_t t;
  void *(*routine)(void *) = !strcmp(name, "futex") ? futex : !strcmp(name, "semaphore") ? take : !strcmp(name, "mutex") ? lock : !strcmp(name, "condition") ? wait : !strcmp(name, "sleep") ? doze : look;
  if (!strcmp(name, "type")) told = 7;
  sem_init(&semaphore, 0, 0);
  pthread_mutex_lock(&taken);
  pthread_create(&t, NULL, routine, NULL);
  if (routine == futex) word = 1;
  else if (routine != look) spoil();
  else if (!strcmp(name, "type")) pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, (int *)&told);
  else {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, (int *)&told);
  }
  pthread_join(t, NULL);
  printf("%d\n", result);
}
