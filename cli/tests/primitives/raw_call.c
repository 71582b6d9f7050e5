// What system calls that are made by `syscall` do to memory.
// case read: 0 | 7
// case written: 0 | 7
// case clock: 0 | 1
// case futex: 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static const char *is;
static int number, seen, ends[2], word;
static struct timespec now;
static void *work(void *unused) {
  if (!strcmp(is, "read")) syscall(SYS_read, ends[0], &number, sizeof number);
  if (!strcmp(is, "written")) number = 7;
  if (!strcmp(is, "clock")) syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  if (!strcmp(is, "futex")) syscall(SYS_futex, &word, 1, 1, 0, 0, 0);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  int seven = 7;
  pipe(ends);
  if (!strcmp(is, "read")) write(ends[1], &seven, sizeof seven);
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "read")) seen = number;
  if (!strcmp(is, "written")) syscall(SYS_write, ends[1], &number, sizeof number);
  if (!strcmp(is, "clock")) seen = now.tv_sec != 0;
  if (!strcmp(is, "futex")) seen = word == 0;
  pthread_join(t, 0);
  if (!strcmp(is, "written")) read(ends[0], &seen, sizeof seen);
  printf("%d", seen);
}
