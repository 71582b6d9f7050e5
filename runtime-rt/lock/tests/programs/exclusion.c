// Writers, upgraders and readers on one lock: no two incompatible holds at once, nothing lost.
// languages: c c++
// stats: none
#include "hooks.h"
enum { THREADS = 4, ROUNDS = 30000 };
static long a, b;  // plain on purpose: equal whenever nobody writes
static void *work(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < ROUNDS; i++) {
    FRAME;
    random = random * 1103515245 + 12345;
    switch ((random >> 16) % 4) {
      case 0:
        ACQUIRE(0, X, 1);
        a++;
        b++;
        RELEASE(0, 1);
        break;
      case 1:
        ACQUIRE(0, U, 2);
        CHECK(a == b);
        ACQUIRE(0, X, 3);
        a++;
        b++;
        RELEASE(0, 2);  // not its origin: stays
        DEGRADE(0, 3);
        CHECK(a == b);
        RELEASE(0, 3);
        break;
      default:
        ACQUIRE(0, R, 4);
        CHECK(*(volatile long *)&a == *(volatile long *)&b);
        RELEASE(0, 4);
    }
  }
  return 0;
}
int main(void) {
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) CHECK(!pthread_create(&threads[i], 0, work, (void *)(i + 1)));
  for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(threads[i], 0));
  CHECK(a == b && a > 0);
  printf("%ld\n", a);
}
