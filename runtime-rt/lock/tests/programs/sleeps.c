// Every call that sleeps, or waits for a signal, gives up what is held.
// languages: c c++
// stats: sleep=10
#include <signal.h>
#include <sys/time.h>
#include "hooks.h"
#include "by_name.h"
BY_NAME(int, __xpg_sigpause, int);
static void handler(int signal) { (void)signal; }
static void alarm_soon(void) {
  struct itimerval soon = {{0, 0}, {0, 20000}};
  CHECK(!setitimer(ITIMER_REAL, &soon, 0));
}
// Again and again: one that comes before the call waits must not be the last.
static void alarms_every(int microseconds) {
  struct itimerval often = {{0, microseconds}, {0, microseconds}};
  CHECK(!setitimer(ITIMER_REAL, &often, 0));
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
  for (int i = 0; i < 10; i++) {
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
      case 7:
        alarms_every(20000);
        CHECK(call___xpg_sigpause(SIGALRM) == -1 && errno == EINTR);
        alarms_every(0);
        break;
      case 8:
        pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
        alarms_every(20000);
        CHECK(pause() == -1 && errno == EINTR);
        alarms_every(0);
        pthread_sigmask(SIG_BLOCK, &alarms, 0);
        break;
      default: sleep(0);
    }
    CHECK(is_free(0, X));
    RELEASE(0, 1);
  }
  return 0;
}
