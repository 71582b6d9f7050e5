// What does not wait fails instead: both outcomes come.
// outcomes: pass | exit-status 1
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *answer(void *unused) { return write(ends[1], "x", 1) == 1 ? unused : ends; }
int main(void) {
  pthread_t t;
  char byte;
  if (pipe2(ends, O_NONBLOCK)) return 9;
  pthread_create(&t, NULL, answer, NULL);
  int got = read(ends[0], &byte, 1);
  if (got < 0 && errno != EAGAIN) return 8;
  pthread_join(t, NULL);
  return got != 1;
}
