// A region held across sleeps, and across a poll with a time-out. Polling without one gives nothing up.
// languages: c c++
// stats: sleep=1 poll=1
#include <poll.h>
#include "hooks.h"
int main(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  poll(0, 0, 0);
  CHECK(is_held(0, R));
  usleep(1000);
  CHECK(is_free(0, X));
  RELEASE(0, 1);
  ACQUIRE(0, X, 1);
  poll(0, 0, 1);
  CHECK(is_free(0, X));
  return 0;
}
