// Signals that threads send each other: handlers run on the thread they are sent to, between its steps or while it waits. One that is
// about to end may do so without.
// case handler: 0 0 | 0 1 | 1 1
// case no-handler: pass | signal SIGUSR1
// case ignored: 0
// case itself: 1
// case blocked: 0 1
// case wait: 10
// case wait-timed: 10 | -1
// case wait-information: 10
// case semaphore: 0 | 4
// case restarted: 1
// case restarted-timed: 0 | 4 | 110
// case suspend: 1
// case suspend-not-restarted: 1
// case poll-not-restarted: 0 | 4
// case read-restarted: 0
// case process: 1
// case process-any: 1 | 2
// covers process-any: what is seen
// note process-any: signals that may interrupt one of several threads
// case process-waited: 10
// case process-waited-by-two: 1 | 2
// case process-before: 10
// case process-later: 1
// case process-deadly: signal SIGUSR1
// case pending: 1 0
// case queued: 10
// note queued: without its value
// covers queued: what is seen
// case queued-for-all: 1
// note queued-for-all: without its value
// covers queued-for-all: what is seen
// case sleep: 0 0 | 4 10
// case sleep-partly: 0 0 | 4 7
// case sleep-absolute: 0 0 | 4 0
// case sleep-seconds: 0 | 10
// case sleep-microseconds: 0 | 4
// case sleep-c11: 0 0 | -1 10
// case sleep-ignored: 0 0
// case sleep-overdue: 0 0
// case nobody: deadlock-condition a thread waits for a signal that no thread is left to send; none comes from outside
// case nobody-beside: deadlock-condition a thread waits for a signal that no thread is left to send; none comes from outside
// case spin-after-join: 2
// case alarm: 1 4
// covers alarm: what is seen
// note alarm: an alarm goes off when nobody can go on
// case ticks: 3
// covers ticks: what is seen
// case alarm-waited: 14
// covers alarm-waited: what is seen
// case watchdog: deadlock-condition a thread waits for a signal that nobody is left to give
// covers watchdog: what is seen
// case timer: pass
// covers timer: what is seen
// case none: 0
// case gone: 3
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static atomic_int taken, seen;
static pthread_t initial;
static sem_t s;
static sigset_t set;
static int ends[2];
static volatile int ticks;
static void take(int signal) {
  (void)signal;
  taken = pthread_equal(pthread_self(), initial) ? 2 : 1;
  ticks++;
}
static void take_tick(int signal) {
  (void)signal;
  ticks++;
}
static void *wait_for_ticks(void *unused) {
  while (ticks < 3) pause();
  return unused;
}
static void *look(void *unused) {
  seen = taken;
  return unused;
}
static void *wait_semaphore(void *unused) {
  seen = sem_wait(&s) ? errno : 0;
  return unused;
}
static void *wait_semaphore_timed(void *unused) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec++;
  seen = sem_timedwait(&s, &end) ? errno : 0;
  return unused;
}
static void *send(void *unused) {
  pthread_kill(initial, SIGUSR1);
  return unused;
}
static void *send_later(void *seconds) {
  sleep((unsigned)(long)seconds);
  pthread_kill(initial, SIGUSR1);
  return NULL;
}
static void *wait_for_ever(void *unused) {
  int signal;
  sigwait(&set, &signal);
  return unused;
}
static void *wait_poll(void *unused) {
  struct pollfd one = {ends[0], POLLIN, 0};
  seen = poll(&one, 1, -1) < 0 ? errno : 0;
  return unused;
}
static void *wait_read(void *unused) {
  char byte;
  seen = read(ends[0], &byte, 1) < 0 ? errno : 0;
  return unused;
}
static void *wait_condition(void *unused) {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&m);
  while (!taken) {
    static const struct timespec later = {2000000000, 0};
    pthread_mutex_unlock(&m);
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    pthread_mutex_lock(&m);
    (void)later;
  }
  pthread_mutex_unlock(&m);
  return unused;
}
static void *process(void *unused) {
  kill(getpid(), SIGUSR1);
  return unused;
}
static void *await_first(void *number) {
  int signal, nobody = 0;
  sigwait(&set, &signal);
  atomic_compare_exchange_strong(&seen, &nobody, (int)(long)number);
  sem_post(&s);
  return NULL;
}
static void *await(void *unused) {
  static const struct timespec span = {1, 0};
  int signal = -1;
  siginfo_t information;
  if (!unused) sigwait(&set, &signal);
  else if (unused == &taken) signal = sigtimedwait(&set, NULL, &span);
  else if (sigwaitinfo(&set, &information) == SIGUSR1) signal = information.si_signo;
  seen = signal;
  return NULL;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  struct sigaction action = {.sa_handler = take};
  pthread_t t;
  initial = pthread_self();
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  if (strstr(is, "restarted")) action.sa_flags = SA_RESTART;
  if (strstr(is, "ignored")) action.sa_handler = SIG_IGN;
  if (strcmp(is, "no-handler")) sigaction(SIGUSR1, &action, NULL);
  if (!strcmp(is, "itself")) {
    raise(SIGUSR1);
    printf("%d", taken == 2);
  } else if (!strcmp(is, "blocked")) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    printf("%d ", taken != 0);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("%d", taken != 0);
  } else if (!strcmp(is, "process")) {
    kill(getpid(), SIGUSR1);
    printf("%d", taken == 2);
  } else if (!strcmp(is, "process-any")) {
    // Both could take it: who does is a choice.
    pthread_create(&t, NULL, process, NULL);
    while (!taken) { }
    printf("%d", (int)taken);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "process-waited") || !strcmp(is, "process-before")) {
    // All block it, and one waits for it, then or later.
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (strstr(is, "before")) kill(getpid(), SIGUSR1);
    pthread_create(&t, NULL, await, NULL);
    if (strstr(is, "waited")) kill(getpid(), SIGUSR1);
    pthread_join(t, NULL);
    printf("%d", (int)seen);
  } else if (!strcmp(is, "process-waited-by-two")) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, await_first, (void *)1);
    pthread_create(&t, NULL, await_first, (void *)2);
    kill(getpid(), SIGUSR1);
    sem_wait(&s);
    printf("%d", (int)seen);
    fflush(stdout);
    _exit(0);
  } else if (!strcmp(is, "process-later")) {
    // It stays with the process until somebody no longer blocks it.
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, process, NULL);
    pthread_join(t, NULL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    printf("%d", taken == 2);
  } else if (!strcmp(is, "process-deadly")) {
    signal(SIGUSR1, SIG_DFL);
    pthread_create(&t, NULL, look, NULL);
    kill(getpid(), SIGUSR1);
    for (;;) pause();
  } else if (!strcmp(is, "pending")) {
    sigset_t pending;
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, send, NULL);
    pthread_join(t, NULL);
    sigpending(&pending);
    printf("%d %d", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2));
  } else if (!strcmp(is, "queued")) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, await, NULL);
    pthread_sigqueue(t, SIGUSR1, (union sigval){.sival_int = 7});
    pthread_join(t, NULL);
    printf("%d", (int)seen);
  } else if (!strcmp(is, "queued-for-all")) {
    sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 7});
    printf("%d", taken == 2);
  } else if (!strncmp(is, "sleep", 5)) {
    struct timespec span = {10, 0}, rest = {0, 0}, at;
    long before = !strcmp(is, "sleep-partly") ? 3 : !strcmp(is, "sleep-overdue") ? 20 : 0;
    int result;
    pthread_create(&t, NULL, before ? send_later : send, (void *)before);
    if (!strcmp(is, "sleep-absolute")) {
      clock_gettime(CLOCK_MONOTONIC, &at);
      at.tv_sec += 10;
      result = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, &rest);
    } else if (!strcmp(is, "sleep-seconds")) {
      result = (int)sleep(10);
    } else if (!strcmp(is, "sleep-microseconds")) {
      result = usleep(10000000) ? errno : 0;
    } else if (!strcmp(is, "sleep-c11")) {
      result = thrd_sleep(&span, &rest);
    } else {
      result = nanosleep(&span, &rest) ? errno : 0;
    }
    pthread_join(t, NULL);
    printf("%d", result);
    if (!strstr(is, "seconds")) printf(" %ld", (long)rest.tv_sec);
  } else if (!strcmp(is, "spin-after-join")) {
    // Taken in a loop that nobody else could see.
    pthread_create(&t, NULL, send, NULL);
    pthread_join(t, NULL);
    while (!ticks) { }
    printf("%d", (int)taken);
  } else if (!strcmp(is, "alarm")) {
    time_t begin = time(NULL);
    signal(SIGALRM, take_tick);
    alarm(4);
    pthread_create(&t, NULL, look, NULL);
    pthread_join(t, NULL);
    pause();
    printf("%d %d", (int)ticks, (int)(time(NULL) - begin));
  } else if (!strcmp(is, "ticks")) {
    struct itimerval every = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, take_tick);
    pthread_create(&t, NULL, wait_for_ticks, NULL);
    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    pthread_join(t, NULL);
    printf("%d", (int)ticks);
  } else if (!strcmp(is, "alarm-waited")) {
    int which = 0;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    pthread_create(&t, NULL, look, NULL);
    alarm(1);
    sigwait(&alarms, &which);
    pthread_join(t, NULL);
    printf("%d", which);
  } else if (!strcmp(is, "watchdog")) {
    // It would only hide why nobody goes on.
    alarm(60);
    pthread_create(&t, NULL, wait_semaphore, NULL);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "timer")) {
    timer_t timer;
    struct itimerspec soon = {{0, 0}, {1, 0}};
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    timer_settime(timer, 0, &soon, NULL);
    pthread_create(&t, NULL, look, NULL);
    pthread_join(t, NULL);
    pause();
  } else if (!strcmp(is, "nobody")) {
    pause();
  } else if (!strcmp(is, "nobody-beside")) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, wait_for_ever, NULL);
    pthread_join(t, NULL);
  } else if (!strncmp(is, "wait", 4)) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, await, !strcmp(is, "wait") ? NULL : !strcmp(is, "wait-timed") ? (void *)&taken : (void *)&seen);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    printf("%d", (int)seen);
  } else if (!strncmp(is, "suspend", 7)) {
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&t, NULL, wait_condition, NULL);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    printf("%d", (int)taken);
  } else if (!strcmp(is, "semaphore") || !strcmp(is, "restarted")) {
    pthread_create(&t, NULL, wait_semaphore, NULL);
    pthread_kill(t, SIGUSR1);
    sem_post(&s);
    pthread_join(t, NULL);
    printf("%d", *is == 's' ? (int)seen : seen == 0);
  } else if (!strcmp(is, "restarted-timed")) {
    // The kernel does not begin a wait anew that has a time limit.
    pthread_create(&t, NULL, wait_semaphore_timed, NULL);
    pthread_kill(t, SIGUSR1);
    sem_post(&s);
    pthread_join(t, NULL);
    printf("%d", (int)seen);
  } else if (!strncmp(is, "poll", 4) || !strncmp(is, "read", 4)) {
    pipe(ends);
    pthread_create(&t, NULL, *is == 'p' ? wait_poll : wait_read, NULL);
    pthread_kill(t, SIGUSR1);
    write(ends[1], "", 1);
    pthread_join(t, NULL);
    printf("%d", (int)seen);
  } else if (!strcmp(is, "none") || !strcmp(is, "gone")) {
    pthread_create(&t, NULL, look, NULL);
    if (*is == 'g') pthread_join(t, NULL);
    printf("%d", pthread_kill(t, 0));
    if (*is == 'n') pthread_join(t, NULL);
  } else {
    pthread_create(&t, NULL, look, NULL);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    if (!strcmp(is, "ignored")) printf("%d", (int)taken);
    if (!strcmp(is, "handler")) printf("%d %d", (int)seen, taken == 1);
  }
  fflush(stdout);
}
