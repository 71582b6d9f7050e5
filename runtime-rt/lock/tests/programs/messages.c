// Regions held across the calls that receive from an empty socket, send into a full one, or take a connection, while the thread at the
// other end needs the lock.
// languages: c c++
// stats: stream=13
#include <fcntl.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include "takes_turns.h"
static int in[2], out[2], listener;
static struct sockaddr_un address;
static socklen_t length;
static char buffer[65536];
static void fill(void) {
  for (size_t size = sizeof buffer; size; size /= 256) {
    while (send(out[0], buffer, size, MSG_DONTWAIT) > 0) {
    }
  }
}
static void let_go(int call) {
  if (call <= 6) {
    CHECK(send(in[1], "x", 1, MSG_DONTWAIT) == 1);
  } else if (call <= 12) {
    while (recv(out[1], buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
    }
  } else {
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    CHECK(client >= 0 && !connect(client, (struct sockaddr *)&address, length));
  }
}
static void wait_in(int call) {
  char byte = 'y';
  struct iovec piece = {&byte, 1};
  struct mmsghdr message;
  memset(&message, 0, sizeof message);
  message.msg_hdr.msg_iov = &piece;
  message.msg_hdr.msg_iovlen = 1;
  // The other end takes nothing out before this thread waits.
  if (call >= 7 && call <= 12) fill();
  switch (call) {
    case 1: CHECK(recv(in[0], &byte, 1, 0) == 1); break;
    case 2: CHECK(recvfrom(in[0], &byte, 1, 0, 0, 0) == 1); break;
    case 3: CHECK(recvmsg(in[0], &message.msg_hdr, 0) == 1); break;
    case 4: CHECK(recvmmsg(in[0], &message, 1, 0, 0) == 1); break;
    case 5: CHECK(readv(in[0], &piece, 1) == 1); break;
    case 6: CHECK(read(in[0], &byte, 1) == 1); break;
    case 7: CHECK(send(out[0], &byte, 1, 0) == 1); break;
    case 8: CHECK(sendto(out[0], &byte, 1, 0, 0, 0) == 1); break;
    case 9: CHECK(sendmsg(out[0], &message.msg_hdr, 0) == 1); break;
    case 10: CHECK(sendmmsg(out[0], &message, 1, 0) == 1); break;
    case 11: CHECK(writev(out[0], &piece, 1) == 1); break;
    case 12: CHECK(write(out[0], &byte, 1) == 1); break;
    default: CHECK(accept4(listener, 0, 0, SOCK_CLOEXEC) >= 0);
  }
  CHECK(call > 6 || byte == 'x');
}
int main(void) {
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, in) && !socketpair(AF_UNIX, SOCK_STREAM, 0, out));
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  address.sun_family = AF_UNIX;  // an abstract name
  length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(address.sun_path + 1, 60, "atomfix-messages-%d", (int)getpid()));
  CHECK(listener >= 0 && !bind(listener, (struct sockaddr *)&address, length) && !listen(listener, 1));
  take_turns(13, wait_in);
  return 0;
}
