// Who waits for something that is taken, by other calls than reading it from where it is waited for, could have come before.
// case splice: 0 | 1
// case sendfile: 0 | 1
// case copy: 0 | 1
// case forget: 0 | 1
// case change: 0 | 1
// case replace: 0 | 1
// case reopen: 0 | 1
// case above: 0 | 1
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <unistd.h>
static const char *is;
static int ends[2], others[2], set, awaited, is_taken;
static struct epoll_event when = {EPOLLIN}, never = {0};
static char seen;
static int way(const char *name) { return !strcmp(is, name); }
static void take(void) {
  eventfd_t count;
  if (way("splice") || way("above")) splice(ends[0], NULL, others[1], NULL, 1, 0);
  if (way("sendfile")) sendfile(others[1], open("/proc/self/exe", O_RDONLY), NULL, 1);
  if (way("copy")) eventfd_read(ends[0], &count);
  if (way("forget")) epoll_ctl(set, EPOLL_CTL_DEL, ends[0], NULL);
  if (way("change")) epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &never);
  if (way("replace")) dup2(others[0], ends[0]);
  if (way("reopen")) close(ends[0]), pipe(others);
}
static void give(void) {
  char page[4096];
  if (way("splice") || way("above")) write(ends[1], "b", 1);
  if (way("sendfile")) read(others[0], page, sizeof page);
  if (way("copy")) eventfd_write(ends[0], 1);
  if (way("forget")) epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &when);
  if (way("change")) epoll_ctl(set, EPOLL_CTL_MOD, ends[0], &when);
  if (way("replace") || way("reopen")) write(others[1], "b", 1);
}
static void *watch(void *unused) {
  poll(&(struct pollfd){awaited, way("sendfile") ? POLLOUT : POLLIN}, 1, -1);
  seen = '0' + is_taken;
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  pipe(ends);
  pipe(others);
  write(ends[1], "a", 1);
  awaited = ends[0];
  set = epoll_create1(0);
  epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &when);
  if (way("sendfile")) fcntl(awaited = others[1], F_SETPIPE_SZ, 4096);
  if (way("copy")) awaited = dup(ends[0] = eventfd(1, 0));
  if (way("forget") || way("change")) awaited = set;
  if (way("above")) awaited = ends[0] = fcntl(ends[0], F_DUPFD, 300);
  pthread_create(&t, NULL, watch, NULL);
  take();
  is_taken = 1;
  give();
  pthread_join(t, NULL);
  printf("%c", seen);
}
