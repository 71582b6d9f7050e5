// A function of the program that waits in a way of its own, listed by the user: injection puts the hook before its calls.
// languages: c c++
// stats: poll=1
#include "hooks.h"
#ifdef __cplusplus
extern "C"
#endif
void __atomfix_give_up(void);
static volatile int done;
__attribute__((noinline)) static void my_wait(void) {
  while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) doze(1);
}
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&done);
  RELEASE(0, 2);
  return unused;
}
int main(void) {
  FRAME;
  __atomfix_give_up();  // of nothing
  ACQUIRE(0, X, 1);
  pthread_t thread = start(body, 0);
  __atomfix_give_up();
  my_wait();
  RELEASE(0, 1);
  finish(thread);
  CHECK(is_free(0, X));
  return 0;
}
