// Regions held across the functions that fortified builds call in the place of libc's ordinary ones.
// languages: c c++
// flags: -U_FORTIFY_SOURCE
// stats: stream=6 poll=2
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include "takes_turns.h"
#ifdef __cplusplus
extern "C" {
#endif
ssize_t __read_chk(int descriptor, void *buffer, size_t size, size_t room);
ssize_t __recv_chk(int descriptor, void *buffer, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int descriptor, void *buffer, size_t size, size_t room, int flags, struct sockaddr *from, socklen_t *length);
int __poll_chk(struct pollfd *asked, nfds_t count, int timeout, size_t room);
int __ppoll_chk(struct pollfd *asked, nfds_t count, const struct timespec *timeout, const sigset_t *mask, size_t room);
char *__fgets_chk(char *line, size_t room, int size, FILE *stream);
size_t __fread_chk(void *data, size_t room, size_t size, size_t count, FILE *stream);
int __fprintf_chk(FILE *stream, int flag, const char *format, ...);
#ifdef __cplusplus
}
#endif
enum { PART = 65536 };
static int sockets[2], full[2];
static FILE *lines, *into_full;
static char buffer[PART];
static void let_go(int call) {
  if (call == 8) {
    CHECK(read(full[0], buffer, PART) == PART);
  } else {
    CHECK(send(sockets[1], "x\n", 2, 0) == 2);
  }
}
static void wait_in(int call) {
  char line[8];
  struct pollfd asked = {sockets[0], POLLIN, 0};
  struct timespec for_long = {600, 0};
  switch (call) {
    case 1: CHECK(__read_chk(sockets[0], line, 2, sizeof line) == 2); break;
    case 2: CHECK(__recv_chk(sockets[0], line, 2, sizeof line, 0) == 2); break;
    case 3: CHECK(__recvfrom_chk(sockets[0], line, 2, sizeof line, 0, 0, 0) == 2); break;
    case 4: CHECK(__poll_chk(&asked, 1, -1, sizeof asked) == 1 && read(sockets[0], line, 2) == 2); break;
    case 5: CHECK(__ppoll_chk(&asked, 1, &for_long, 0, sizeof asked) == 1 && read(sockets[0], line, 2) == 2); break;
    case 6: CHECK(__fgets_chk(line, sizeof line, sizeof line, lines) == line); break;
    case 7: CHECK(__fread_chk(line, sizeof line, 1, 2, lines) == 2); break;
    default: CHECK(__fprintf_chk(into_full, 1, "%s", "x") == 1);
  }
}
int main(void) {
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) && !pipe(full) && write(full[1], buffer, PART) == PART);
  lines = fdopen(sockets[0], "r");
  into_full = fdopen(full[1], "w");
  CHECK(lines && into_full && !setvbuf(lines, 0, _IONBF, 0) && !setvbuf(into_full, 0, _IONBF, 0));
  take_turns(8, wait_in);
  return 0;
}
