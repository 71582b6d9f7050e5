// Every call that sleeps, or waits for a signal, gives up what is held.
// languages: c c++
// stats: sleep=8
#include <signal.h>
#include <sys/time.h>
#include "hooks.h"
static void handler(int signal) { (void)signal; }
static void alarm_soon(void) {
  struct itimerval soon = {{0, 0}, {0, 20000}};
  CHECK(!setitimer(ITIMER_REAL, &soon, 0));
}
int main(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  CHECK(!sigaction(SIGALRM, &action, 0));
  sigset_t alarms, before;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, &before);
  for (int i = 0; i < 8; i++) {
    FRAME;
    struct timespec little = {0, 1000000}, never = {600, 0};
    int taken;
    ACQUIRE(0, X, 1);
    errno = 0;
    switch (i) {
      case 0: usleep(1000); break;
      case 1: nanosleep(&little, 0); break;
      case 2: clock_nanosleep(CLOCK_MONOTONIC, 0, &little, 0); break;
      case 3:
        alarm_soon();
        CHECK(!sigwait(&alarms, &taken) && taken == SIGALRM);
        break;
      case 4:
        alarm_soon();
        CHECK(sigwaitinfo(&alarms, 0) == SIGALRM);
        break;
      case 5:
        alarm_soon();
        CHECK(sigtimedwait(&alarms, 0, &never) == SIGALRM);
        break;
      case 6:
        alarm_soon();
        CHECK(sigsuspend(&before) == -1 && errno == EINTR);
        break;
      default: sleep(0);
    }
    CHECK(is_free(0, X));
    RELEASE(0, 1);
  }
  return 0;
}
