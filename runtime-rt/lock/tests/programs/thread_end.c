// Ends of a thread inside a region: pthread_exit, cancellation inside an interposed wait, return without a release.
// languages: c c++
// stats: condition=1
#include "hooks.h"
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static volatile int held;
static void *exits(void *unused) {
  FRAME;
  ACQUIRE(0, X, 1);
  pthread_exit(unused);
}
static void *returns(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  return unused;
}
static void unlock(void *unused) {
  (void)unused;
  pthread_mutex_unlock(&mutex);
}
static void *waits(void *unused) {
  FRAME;
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, 0);
  ACQUIRE(0, X, 3);
  raise_flag(&held);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
  return unused;
}
static void *cancels(void *unused) {
  FRAME;
  ACQUIRE(0, X, 4);
  raise_flag(&held);
  for (;;) {
    pthread_testcancel();
    doze(1);
  }
  return unused;
}
int main(void) {
  finish(start(exits, 0));
  CHECK(is_free(0, X));
  finish(start(returns, 0));
  CHECK(is_free(0, X));
  void *(*bodies[])(void *) = {waits, cancels};
  for (int i = 0; i < 2; i++) {
    held = 0;
    pthread_t thread = start(bodies[i], 0);
    await(&held);
    doze(5);
    void *result;
    CHECK(!pthread_cancel(thread) && !pthread_join(thread, &result) && result == PTHREAD_CANCELED);
    CHECK(is_free(0, X));
  }
  pthread_mutex_lock(&mutex);  // the cleanup ran
  return 0;
}
