// Writers for whom there is room, but not for so much: the kernel says that they need not wait, and they do.
// case counter: 1
// case datagrams: 1
// case stuck: deadlock-condition a thread waits in a system call for what nobody is left to do
// case late: 0 | 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>
static const eventfd_t most = 0xfffffffffffffffe;
static const char *is;
static int counter, from, to, sent;
static struct sockaddr_un place = {AF_UNIX, "\0not-so-much-room-"};
static socklen_t length;
static int send_one(void) { return sendto(from, "a", 1, 0, (void *)&place, length) == 1; }
static void *put(void *unused) {
  if (!strcmp(is, "datagrams") || !strcmp(is, "late")) sent = send_one();
  else sent = !eventfd_write(counter, 2);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  char text[8];
  eventfd_t value;
  counter = eventfd(0, 0);
  eventfd_write(counter, most - 1);
  if (!strcmp(is, "datagrams") || !strcmp(is, "late")) {
    from = socket(AF_UNIX, SOCK_DGRAM, 0), to = socket(AF_UNIX, SOCK_DGRAM, 0);
    int end = snprintf(place.sun_path + 18, sizeof place.sun_path - 18, "%d", getpid());
    length = offsetof(struct sockaddr_un, sun_path) + 18 + end;
    bind(to, (void *)&place, length);
    while (sendto(from, "a", 1, MSG_DONTWAIT, (void *)&place, length) == 1) {}
    struct timeval soon = {1};
    if (!strcmp(is, "late")) setsockopt(from, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof soon);
  }
  pthread_create(&t, NULL, put, NULL);
  if (!strcmp(is, "counter")) eventfd_read(counter, &value);
  if (!strcmp(is, "datagrams") || !strcmp(is, "late")) read(to, text, sizeof text);
  pthread_join(t, NULL);
  printf("%d", sent);
}
