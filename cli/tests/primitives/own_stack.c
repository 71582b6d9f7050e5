// Threads go on on stacks that the program made itself, and come back to the same place there.
// case update: 1 | 2
// case turns: 8
// case timed: 110
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <ucontext.h>
static int n;
static atomic_int turns;
static sem_t never;
static __thread ucontext_t caller, own;
static void update(void) {
  int was = n;
  swapcontext(&own, &caller);
  n = was + 1;
}
static void turn(void) {
  int seen = 0;
  for (int i = 0; i < 8; i++) seen += turns == 0;
  n = seen;
}
static void wait_timed(void) {
  struct timespec at = {0, 0};
  n = sem_timedwait(&never, &at) ? errno : 0;
}
static void run(void (*function)(void)) {
  getcontext(&own);
  own.uc_stack.ss_sp = malloc(1 << 16);
  own.uc_stack.ss_size = 1 << 16;
  own.uc_link = &caller;
  makecontext(&own, function, 0);
  swapcontext(&caller, &own);
  if (function == update) swapcontext(&caller, &own);
}
static void *other(void *function) {
  if (function) run(update);
  return NULL;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t;
  pthread_create(&t, NULL, other, *is == 'u' ? &n : NULL);
  run(*is == 'u' ? update : *is == 't' && is[1] == 'u' ? turn : wait_timed);
  pthread_join(t, NULL);
  printf("%d", n);
  fflush(stdout);
}
