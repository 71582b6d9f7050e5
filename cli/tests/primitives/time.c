// Time is virtual: it passes by sleeping, exactly as long, and all clocks run together.
// case sleep: 3.500000001
// case absolute: 2.000000000
// case clocks: same
// case two: 12 | 21
// case deadline: 1.000000000
// case alarm: pass
// note alarm: the program handles signals
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
static atomic_int said, order[2];
static void *say(void *id) {
  usleep(id == (void *)1 ? 10 : 20);
  order[said++] = (int)(long)id;
  return NULL;
}
static struct timespec now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time;
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
  } else {
    alarm(1);
    sleep(2);
  }
  fflush(stdout);
}
