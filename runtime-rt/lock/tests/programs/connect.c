// Regions held across accept, and across connects: one that waits because the queue of connections is full, and one that nobody could
// have known not to wait.
// languages: c c++
// stats: stream=3
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "hooks.h"
static struct sockaddr_un address;
static socklen_t length;
static int listener;
static volatile int go;
static int fresh(void) {
  int made = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(made >= 0);
  return made;
}
static void *body(void *unused) {
  FRAME;
  while (go != 1) doze(1);
  ACQUIRE(0, X, 2);
  CHECK(!connect(fresh(), (struct sockaddr *)&address, length));
  RELEASE(0, 2);
  while (go != 2) doze(1);
  ACQUIRE(0, X, 3);
  RELEASE(0, 3);
  for (int i = 0; i < 2; i++) CHECK(accept(listener, 0, 0) >= 0);
  return unused;
}
int main(void) {
  FRAME;
  listener = fresh();
  address.sun_family = AF_UNIX;  // an abstract name
  length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
                       (size_t)snprintf(address.sun_path + 1, 60, "atomfix-connect-%d", (int)getpid()));
  CHECK(!bind(listener, (struct sockaddr *)&address, length) && !listen(listener, 0));
  pthread_t thread = start(body, 0);
  ACQUIRE(0, X, 1);
  go = 1;
  CHECK(accept(listener, 0, 0) >= 0);
  RELEASE(0, 1);
  CHECK(!connect(fresh(), (struct sockaddr *)&address, length));  // fills the queue
  ACQUIRE(0, X, 1);
  go = 2;
  CHECK(!connect(fresh(), (struct sockaddr *)&address, length));
  RELEASE(0, 1);
  finish(thread);
  return 0;
}
