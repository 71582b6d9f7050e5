// Reading a terminal, by descriptor and by stream, while the thread that types needs the lock; waiting until one has sent everything,
// which cannot be known before.
// languages: c c++
// stats: stream=3
#include <fcntl.h>
#include <termios.h>
#include "hooks.h"
static int keyboard;
static volatile int go;
static void *body(void *unused) {
  FRAME;
  for (int i = 1; i <= 2; i++) {
    while (go != i) doze(1);
    ACQUIRE(0, X, 2);
    CHECK(write(keyboard, "yes\n", 4) == 4);
    RELEASE(0, 2);
  }
  return unused;
}
int main(void) {
  FRAME;
  char line[8];
  keyboard = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(keyboard >= 0 && !grantpt(keyboard) && !unlockpt(keyboard));
  int screen = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
  FILE *in = fdopen(screen, "r");
  CHECK(screen >= 0 && in);
  pthread_t thread = start(body, 0);
  ACQUIRE(0, X, 1);
  go = 1;
  CHECK(read(screen, line, sizeof line) == 4);
  RELEASE(0, 1);
  ACQUIRE(0, X, 1);
  go = 2;
  CHECK(fgets(line, sizeof line, in) && !strcmp(line, "yes\n"));
  RELEASE(0, 1);
  finish(thread);
  ACQUIRE(0, X, 1);
  CHECK(!tcdrain(screen) && is_free(0, X));
  RELEASE(0, 1);
  return 0;
}
