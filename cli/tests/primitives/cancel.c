// Cancellation, at the points where it happens. -1 is what a thread that was cancelled ends with.
// case test: -1 | 7
// case disabled: 7
// case later: -1 0 | 7 1
// case semaphore: -1
// case join: -1
// case condition: -1 1
// case condition-signalled: -1 1 | 7 1
// case cleanup: -1 21
// case sleep: -1
// case read: -1
// case mutex: 7
// case signal: -1
// case gone: 3
// case asynchronous: -1 | 7
// covers asynchronous: what is seen
// note asynchronous: a thread asks to be cancelled at any instruction
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static sem_t s;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static atomic_int order, after;
static int ends[2], held;
static void note(void *digit) { order = order * 10 + (int)(long)digit; }
static void *test(void *unused) {
  (void)unused;
  pthread_testcancel();
  return (void *)7;
}
static void *disabled(void *unused) {
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
  return test(unused);
}
static void *later(void *unused) {
  int before;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
  pthread_testcancel();
  pthread_setcancelstate(before, NULL);
  pthread_testcancel();
  after = 1;
  return (void *)7;
}
static void *asynchronous(void *unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  return test(unused);
}
static void *wait_semaphore(void *unused) {
  (void)unused;
  sem_wait(&s);
  return (void *)7;
}
static void *join_waiter(void *waiter) {
  pthread_join(*(pthread_t *)waiter, NULL);
  return (void *)7;
}
static void unlock(void *unused) {
  (void)unused;
  held = pthread_mutex_trylock(&m) != 0;
  pthread_mutex_unlock(&m);
}
static void *wait_condition(void *unused) {
  (void)unused;
  pthread_mutex_lock(&m);
  pthread_cleanup_push(unlock, NULL);
  pthread_cond_wait(&c, &m);
  pthread_cleanup_pop(1);
  return (void *)7;
}
static void *cleanup(void *unused) {
  pthread_cleanup_push(note, (void *)1);
  pthread_cleanup_push(note, (void *)2);
  sem_wait(&s);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
  return unused;
}
static void *sleeper(void *unused) {
  for (;;) sleep(1);
  return unused;
}
static void *reader(void *unused) {
  char byte;
  read(ends[0], &byte, 1);
  return unused;
}
static void *locker(void *unused) {
  (void)unused;
  pthread_mutex_lock(&m);
  pthread_mutex_unlock(&m);
  return (void *)7;
}
static sigset_t signals;
static void *take_signal(void *unused) {
  int taken;
  locker(unused);
  sigwait(&signals, &taken);
  return (void *)7;
}
static void block(int signal) {
  sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  struct {
    const char *name;
    void *(*routine)(void *);
  } routines[] = {{"test", test}, {"disabled", disabled}, {"later", later}, {"semaphore", wait_semaphore}, {"join", join_waiter},
                  {"condition", wait_condition}, {"condition-signalled", wait_condition}, {"cleanup", cleanup}, {"sleep", sleeper},
                  {"read", reader}, {"mutex", locker}, {"signal", take_signal}, {"gone", test}, {"asynchronous", asynchronous}};
  pthread_t t, waiter;
  void *result;
  if (pipe(ends)) return 1;
  for (unsigned i = 0; i < sizeof routines / sizeof *routines; i++) {
    if (strcmp(is, routines[i].name)) continue;
    if (!strcmp(is, "join")) pthread_create(&waiter, NULL, wait_semaphore, NULL);
    int keeps = !strcmp(is, "mutex") || !strcmp(is, "signal");
    if (keeps) pthread_mutex_lock(&m);
    if (!strcmp(is, "signal")) block(SIGUSR1);
    pthread_create(&t, NULL, routines[i].routine, &waiter);
    if (!strcmp(is, "gone")) {
      pthread_join(t, &result);
      printf("%d", pthread_cancel(t));
      break;
    }
    if (!strcmp(is, "signal")) pthread_kill(t, SIGUSR1);
    pthread_cancel(t);
    if (keeps) pthread_mutex_unlock(&m);
    if (!strcmp(is, "condition-signalled")) {
      pthread_mutex_lock(&m);
      pthread_cond_signal(&c);
      pthread_mutex_unlock(&m);
    }
    pthread_join(t, &result);
    printf("%ld", (long)result);
    if (!strcmp(is, "later")) printf(" %d", (int)after);
    if (!strncmp(is, "condition", 9)) printf(" %d", held);
    if (order) printf(" %d", (int)order);
    if (!strcmp(is, "join")) {
      sem_post(&s);
      pthread_join(waiter, NULL);
    }
  }
  fflush(stdout);
}
