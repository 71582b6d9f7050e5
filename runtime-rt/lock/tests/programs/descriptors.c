// Regions held across reads and writes of descriptors that count events, tell the time, or report signals and changes of files, while
// the thread that makes them ready needs the lock.
// languages: c c++
// stats: stream=7
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include "takes_turns.h"
static int empty, full, timer, signals, changes, file;
static void let_go(int call) {
  struct itimerspec soon = {{0, 0}, {0, 1000000}};
  uint64_t taken;
  switch (call) {
    case 1: case 2: taken = 1; CHECK(write(empty, &taken, sizeof taken) == sizeof taken); break;
    case 3: case 4: CHECK(read(full, &taken, sizeof taken) == sizeof taken); break;
    case 5: CHECK(!timerfd_settime(timer, 0, &soon, 0)); break;
    case 6: CHECK(!kill(getpid(), SIGUSR1)); break;
    default: CHECK(write(file, "x", 1) == 1);
  }
}
static void wait_in(int call) {
  uint64_t count = UINT64_MAX - 1;
  struct signalfd_siginfo information;
  char change[sizeof(struct inotify_event) + 300];
  switch (call) {
    case 1: CHECK(read(empty, &count, sizeof count) == sizeof count && count == 1); break;
    case 2: CHECK(!eventfd_read(empty, &count) && count == 1); break;
    case 3: CHECK(write(full, &count, sizeof count) == sizeof count); break;
    case 4: CHECK(!eventfd_write(full, count)); break;
    case 5: CHECK(read(timer, &count, sizeof count) == sizeof count && count == 1); break;
    case 6: CHECK(read(signals, &information, sizeof information) == sizeof information && information.ssi_signo == SIGUSR1); break;
    default: CHECK(read(changes, change, sizeof change) > 0);
  }
}
int main(void) {
  char name[] = "/tmp/atomfix-changes-XXXXXX";
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK(!pthread_sigmask(SIG_BLOCK, &set, 0));
  empty = eventfd(0, 0);
  full = eventfd(0, 0);
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  signals = signalfd(-1, &set, 0);
  changes = inotify_init();
  file = mkstemp(name);
  CHECK(empty >= 0 && full >= 0 && timer >= 0 && signals >= 0 && changes >= 0 && file >= 0);
  CHECK(inotify_add_watch(changes, name, IN_MODIFY) >= 0 && !eventfd_write(full, UINT64_MAX - 1));
  take_turns(7, wait_in);
  CHECK(!unlink(name));
  return 0;
}
