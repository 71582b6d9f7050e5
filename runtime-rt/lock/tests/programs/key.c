// Destructors of thread-specific data run regions, before and after the thread has given its record back.
// languages: c c++
// stats: none
#include "hooks.h"
static pthread_key_t early, late;
static int ran;
static void destroy(void *round) {
  FRAME;
  ACQUIRE(0, X, 1);
  __atomic_add_fetch(&ran, 1, __ATOMIC_RELAXED);
  RELEASE(0, 1);
  // Comes again, in a later round of destructors.
  if (round == (void *)1) pthread_setspecific(early, (void *)2);
}
static void *body(void *unused) {
  FRAME;
  pthread_setspecific(early, (void *)1);
  pthread_setspecific(late, (void *)2);
  ACQUIRE(1, X, 2);
  return unused;
}
__attribute__((constructor(101))) static void first(void) { CHECK(!pthread_key_create(&early, destroy)); }
int main(void) {
  CHECK(!pthread_key_create(&late, destroy));
  for (int i = 0; i < 5; i++) finish(start(body, 0));
  CHECK(ran == 15 && is_free(0, X) && is_free(1, X));
  return 0;
}
