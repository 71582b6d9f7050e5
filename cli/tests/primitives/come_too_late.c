// Who finds a pipe full or empty could have come before whoever left it so.
// case full: ab | ba
// case empty: ab | ba
// case poll: 0 | 1
// case wait: 0 | 1
// case splice: 1
// case limited: 0 | 1
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
static const char *is;
static int ends[2], others[2], events;
static char seen[3], is_second;
static char take(void) {
  char page[4096];
  read(ends[0], page, sizeof page);
  return page[0];
}
static void *fill(void *text) {
  char page[4096];
  memset(page, *(char *)text, sizeof page);
  write(ends[1], page, sizeof page);
  return 0;
}
static void *empty(void *place) {
  read(ends[0], place, 1);
  return 0;
}
static void *watch(void *unused) {
  struct epoll_event event;
  if (!strcmp(is, "poll")) poll(&(struct pollfd){ends[0], POLLIN, 0}, 1, -1);
  if (!strcmp(is, "wait")) epoll_wait(events, &event, 1, -1);
  if (!strcmp(is, "limited")) epoll_pwait2(events, &event, 1, NULL, NULL);
  if (!strcmp(is, "splice")) splice(ends[0], NULL, others[1], NULL, 1, 0);
  *seen = '0' + is_second;
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t[2];
  pipe(ends);
  pipe(others);
  if (!strcmp(is, "full")) {
    fcntl(ends[0], F_SETPIPE_SZ, 4096);
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, fill, &"ab"[i]);
    seen[0] = take(), seen[1] = take();
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  } else if (!strcmp(is, "empty")) {
    for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, empty, &seen[i]);
    write(ends[1], "a", 1);
    write(ends[1], "b", 1);
    for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  } else {
    events = epoll_create1(0);
    epoll_ctl(events, EPOLL_CTL_ADD, ends[0], &(struct epoll_event){EPOLLIN});
    if (strcmp(is, "splice")) write(ends[1], "a", 1);
    pthread_create(t, 0, watch, 0);
    if (strcmp(is, "splice")) take();
    is_second = 1;
    write(ends[1], "b", 1);
    pthread_join(*t, 0);
  }
  printf("%s", seen);
}
