// Regions held across input and output: on files, on descriptors that are ready, or that never wait, nothing is given up; on a
// pipe and a socket that would wait, all is.
// languages: c c++
// stats: stream=2
#include <fcntl.h>
#include <sys/socket.h>
#include "hooks.h"
static int pipe_ends[2], pair[2];
static volatile int go, go_on;
static void *body(void *unused) {
  FRAME;
  await(&go);
  ACQUIRE(0, X, 2);
  CHECK(write(pipe_ends[1], "y", 1) == 1);
  RELEASE(0, 2);
  await(&go_on);
  ACQUIRE(1, X, 3);
  CHECK(send(pair[1], "z", 1, 0) == 1);
  RELEASE(1, 3);
  return unused;
}
int main(void) {
  FRAME;
  char byte;
  CHECK(!pipe(pipe_ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
  pthread_t thread = start(body, 0);
  ACQUIRE(1, X, 1);
  int file = open("/proc/self/exe", O_RDONLY);
  CHECK(read(file, &byte, 1) == 1);
  CHECK(write(pipe_ends[1], "x", 1) == 1 && read(pipe_ends[0], &byte, 1) == 1 && byte == 'x');
  CHECK(recv(pair[0], &byte, 1, MSG_DONTWAIT) == -1 && errno == EAGAIN);
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  ACQUIRE(0, X, 4);
  raise_flag(&go);
  CHECK(read(pipe_ends[0], &byte, 1) == 1 && byte == 'y');
  RELEASE(0, 4);
  ACQUIRE(1, X, 5);
  raise_flag(&go_on);
  CHECK(recv(pair[0], &byte, 1, 0) == 1 && byte == 'z');
  RELEASE(1, 5);
  finish(thread);
  return 0;
}
