// More threads than the table holds: the rest goes without (they wait in a futex call, which is seen), and slots of ended threads are used again.
// languages: c c++
// stats: full>=1 meet>=1
#include <linux/futex.h>
#include <limits.h>
#include "hooks.h"
enum { MANY = 2200 };
static volatile int go;
static int entered;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, R, 1);
  __atomic_add_fetch(&entered, 1, __ATOMIC_RELAXED);
  while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) syscall(SYS_futex, &go, FUTEX_WAIT, 0, 0, 0, 0);
  RELEASE(0, 1);
  return unused;
}
static void *later(void *unused) {
  FRAME;
  ACQUIRE(1, X, 2);
  RELEASE(1, 2);
  return unused;
}
int main(void) {
  static pthread_t threads[MANY];
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  int made = 0;
  while (made < MANY && !pthread_create(&threads[made], &small, body, 0)) made++;
  CHECK(made == MANY);
  while (__atomic_load_n(&entered, __ATOMIC_RELAXED) < MANY) doze(5);
  raise_flag(&go);
  syscall(SYS_futex, &go, FUTEX_WAKE, INT_MAX, 0, 0, 0);
  for (int i = 0; i < MANY; i++) finish(threads[i]);
  for (int i = 0; i < 50; i++) finish(start(later, 0));
  CHECK(is_free(0, X) && is_free(1, X));
  return 0;
}
