// Regions held across each of the calls that wait for events, while the thread that brings the event about needs the lock.
// languages: c c++
// stats: poll=7
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include "hooks.h"
enum { CALLS = 7 };
static int ends[2];
static volatile int go;
static void *body(void *unused) {
  FRAME;
  for (int i = 1; i <= CALLS; i++) {
    while (go != i) doze(1);
    ACQUIRE(0, X, 2);
    CHECK(write(ends[1], "x", 1) == 1);
    RELEASE(0, 2);
  }
  return unused;
}
int main(void) {
  FRAME;
  char byte;
  CHECK(!pipe(ends));
  int epoll = epoll_create1(0);
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = EPOLLIN;
  CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
  pthread_t thread = start(body, 0);
  for (int i = 1; i <= CALLS; i++) {
    struct pollfd in = {ends[0], POLLIN, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    struct timespec never = {600, 0};
    ACQUIRE(0, X, 1);
    // Only asking gives nothing up.
    CHECK(poll(&in, 1, 0) == 0 && epoll_wait(epoll, &event, 1, 0) == 0);
    go = i;
    int ready = 0;
    switch (i) {
      case 1: ready = poll(&in, 1, -1); break;
      case 2: ready = ppoll(&in, 1, &never, 0); break;
      case 3: ready = select(ends[0] + 1, &set, 0, 0, 0); break;
      case 4: ready = pselect(ends[0] + 1, &set, 0, 0, &never, 0); break;
      case 5: ready = epoll_wait(epoll, &event, 1, -1); break;
      case 6: ready = epoll_pwait(epoll, &event, 1, 600000, 0); break;
      default: ready = epoll_pwait2(epoll, &event, 1, &never, 0);
    }
    CHECK(ready == 1 && read(ends[0], &byte, 1) == 1);
    RELEASE(0, 1);
  }
  finish(thread);
  return 0;
}
