// Calls on sockets that have a time limit end when it has passed, as other timed waits do.
// case receive: a | late
// case none: a
// case send: late | pass
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>
static int ends[2];
static const char *is;
static char buffer[1 << 16];
static void *work(void *unused) {
  if ((!strcmp(is, "receive") || !strcmp(is, "none"))) write(ends[1], "a", 1);
  if (!strcmp(is, "send")) read(ends[1], buffer, sizeof buffer);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  char seen[8] = "";
  struct timeval limit = {1, 0};
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  if (!strcmp(is, "send")) {
    while (send(ends[0], buffer, sizeof buffer, MSG_DONTWAIT) > 0) {}
  }
  if (strcmp(is, "none")) setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  pthread_create(&t, 0, work, 0);
  if ((!strcmp(is, "receive") || !strcmp(is, "none")) && read(ends[0], seen, 1) < 0) strcpy(seen, errno == EAGAIN ? "late" : "?");
  if (!strcmp(is, "send") && write(ends[0], "x", 1) < 0) strcpy(seen, errno == EAGAIN ? "late" : "?");
  pthread_join(t, 0);
  printf("%s", seen);
}
