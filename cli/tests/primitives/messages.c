// Memory that calls with several messages at once find, and places for what a call of the threads' library makes.
// case received: 0 | 1
// case sent: a | b
// case key: 0 | 1
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
static const char *is;
static char first[8], second[8];
static int seen, ends[2];
static pthread_key_t key = 1000;
static struct iovec parts[2] = {{first, 1}, {second, 1}};
static struct mmsghdr both[2];
static void *work(void *unused) {
  if (!strcmp(is, "received")) recvmmsg(ends[0], both, 2, 0, 0);
  if (!strcmp(is, "sent")) second[0] = 'b';
  if (!strcmp(is, "key")) pthread_key_create(&key, 0);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
  for (int at = 0; at < 2; at++) both[at].msg_hdr.msg_iov = &parts[at], both[at].msg_hdr.msg_iovlen = 1;
  if (!strcmp(is, "received")) send(ends[1], "a", 1, 0), send(ends[1], "b", 1, 0);
  if (!strcmp(is, "sent")) first[0] = second[0] = 'a';
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "received")) seen = second[0] != 0;
  if (!strcmp(is, "sent")) sendmmsg(ends[1], both, 2, 0);
  if (!strcmp(is, "key")) seen = key != 1000;
  pthread_join(t, 0);
  if (!strcmp(is, "sent")) read(ends[0], first, 1), read(ends[0], first, 1);
  if (!strcmp(is, "sent")) printf("%c", first[0]);
  else printf("%d", seen);
}
