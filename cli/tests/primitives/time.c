// Time is virtual: it passes by sleeping, exactly as long, and all clocks run together. Those of work do not pass by sleeping.
// case sleep: 3.500000001
// case absolute: 2.000000000
// case clocks: same
// case two: 12 | 21
// case deadline: 1.000000000
// case timer: 2.000000000 1
// case timer-periodic: 3.000000000 3
// case timer-polled: 2.000000000 1
// case timer-beside: 0 | 1
// case work: 0 0 0 0 0
// case time-until: done
// case work-until: done
// case work-of-thread: 0 1
// case none: 22 22 22 22
// case no-time: 22 22 22 22 0 22
// case alarm: pass
// note work-of-thread: clocks: a thread that looks at one
// covers work-of-thread: what is seen
// note alarm: the program sets timers that send signals
// covers alarm: what is seen
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/timerfd.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static atomic_int said, order[2];
static void *say(void *id) {
  usleep(id == (void *)1 ? 10 : 20);
  order[said++] = (int)(long)id;
  return NULL;
}
static atomic_int flag;
static void *set(void *unused) {
  flag = 1;
  return unused;
}
static struct timespec now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
}
static long worked(clockid_t clock) {
  struct timespec time;
  if (clock_gettime(clock, &time)) return -1;
  return time.tv_sec * 1000000000 + time.tv_nsec;
}
static void *work(void *unused) {
  while (worked(CLOCK_THREAD_CPUTIME_ID) < 1000000) {
  }
  return unused;
}
static void since(struct timespec begin) {
  struct timespec end = now();
  long seconds = end.tv_sec - begin.tv_sec, nanoseconds = end.tv_nsec - begin.tv_nsec;
  if (nanoseconds < 0) seconds--, nanoseconds += 1000000000;
  printf("%ld.%09ld", seconds, nanoseconds);
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  struct timespec begin = now(), span = {0, 500000001};
  if (!strcmp(is, "sleep")) {
    sleep(1);
    usleep(1000000);
    nanosleep(&span, NULL);
    thrd_sleep(&(struct timespec){1, 0}, NULL);
    since(begin);
  } else if (!strcmp(is, "absolute")) {
    span = begin;
    span.tv_sec += 2;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &span, NULL);
    since(begin);
  } else if (!strcmp(is, "clocks")) {
    struct timeval day;
    struct timespec coarse;
    clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
    gettimeofday(&day, NULL);
    int same = time(NULL) == day.tv_sec && day.tv_sec == begin.tv_sec && coarse.tv_sec == begin.tv_sec && day.tv_usec == begin.tv_nsec / 1000;
    printf("%s", same ? "same" : "different");
  } else if (!strcmp(is, "work")) {
    struct rusage usage;
    struct tms ticks;
    sleep(1);
    getrusage(RUSAGE_SELF, &usage);
    times(&ticks);
    printf("%ld %ld ", worked(CLOCK_PROCESS_CPUTIME_ID), worked(CLOCK_THREAD_CPUTIME_ID));
    printf("%ld %ld %ld", (long)clock(), (long)usage.ru_utime.tv_sec, (long)ticks.tms_utime);
  } else if (!strcmp(is, "time-until")) {
    time_t end = time(NULL) + 2;
    while (time(NULL) < end) {
    }
    printf("done");
  } else if (!strcmp(is, "work-until")) {
    while (clock() < CLOCKS_PER_SEC / 10) {
    }
    printf("done");
  } else if (!strcmp(is, "work-of-thread")) {
    pthread_t t;
    clockid_t of;
    pthread_create(&t, NULL, work, NULL);
    int result = pthread_getcpuclockid(t, &of);
    // It has ended, and was not joined: its clock is there.
    while (worked(of) < 1000000) sleep(1);
    pthread_join(t, NULL);
    printf("%d %d", result, worked(CLOCK_PROCESS_CPUTIME_ID) >= 1000000);
  } else if (!strcmp(is, "none")) {
    struct timespec time = {0, 0};
    printf("%d ", clock_gettime(99, &time) ? errno : 0);
    printf("%d ", clock_nanosleep(99, 0, &time, NULL));
    printf("%d ", clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &time, NULL));
    printf("%d", clock_gettime(-1, &time) ? errno : 0);
  } else if (!strcmp(is, "no-time")) {
    struct timespec none = {1, 1000000000};
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
    sem_t s;
    sem_init(&s, 0, 1);
    printf("%d ", nanosleep(&none, NULL) ? errno : 0);
    printf("%d ", pthread_rwlock_timedrdlock(&l, &none));
    printf("%d ", sem_timedwait(&s, &none) ? errno : 0);
    pthread_mutex_lock(&m);
    printf("%d ", pthread_cond_timedwait(&c, &m, &none));
    pthread_mutex_unlock(&m);
    printf("%d ", pthread_mutex_timedlock(&m, &none));
    printf("%d", pthread_mutex_timedlock(&m, &none));
  } else if (!strcmp(is, "two")) {
    pthread_t t;
    pthread_create(&t, NULL, say, (void *)1);
    say((void *)2);
    pthread_join(t, NULL);
    printf("%d%d", (int)order[0], (int)order[1]);
  } else if (!strcmp(is, "deadline")) {
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c = PTHREAD_COND_INITIALIZER;
    span = begin;
    span.tv_sec++;
    pthread_mutex_lock(&m);
    pthread_cond_timedwait(&c, &m, &span);
    pthread_mutex_unlock(&m);
    since(begin);
  } else if (!strncmp(is, "timer", 5)) {
    int t = timerfd_create(CLOCK_MONOTONIC, 0), seen = 0;
    struct itimerspec setting = {.it_value = {2, 0}};
    uint64_t count = 0;
    if (!strcmp(is, "timer-periodic")) setting = (struct itimerspec){{1, 0}, {1, 0}};
    timerfd_settime(t, 0, &setting, NULL);
    if (!strcmp(is, "timer-periodic")) sleep(3);
    if (!strcmp(is, "timer-polled")) {
      struct pollfd one = {t, POLLIN, 0};
      seen = poll(&one, 1, -1) == 1 ? 0 : 9;
    }
    if (!strcmp(is, "timer-beside")) {
      // Whether the other thread comes before the timer.
      pthread_t u;
      pthread_create(&u, NULL, set, NULL);
      read(t, &count, sizeof count);
      seen = flag;
      pthread_join(u, NULL);
      printf("%d", seen);
    } else {
      read(t, &count, sizeof count);
      since(begin);
      printf(" %d", (int)count + seen);
    }
    close(t);
  } else {
    alarm(1);
    sleep(2);
  }
  fflush(stdout);
}
