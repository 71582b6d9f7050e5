// Regions held across transfers between descriptors, and across the opening of a named pipe, while the other end needs the lock.
// languages: c c++
// stats: stream=8
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include "takes_turns.h"
enum { PART = 65536 };
static int empty[2], full[2], other_full[2], file;
static char name[60], buffer[PART];
static volatile int opened;
static void let_go(int call) {
  int end;
  switch (call) {
    case 1: case 2: CHECK(write(empty[1], "x", 1) == 1); break;
    case 3: case 4: case 5: case 6: CHECK(read(full[0], buffer, PART) == PART); break;
    // The one that waits has given up, but may not have got to its wait.
    case 7: while ((end = open(name, O_WRONLY | O_NONBLOCK)) < 0) doze(1); CHECK(!close(end)); break;
    default: end = open(name, O_RDONLY | O_NONBLOCK); CHECK(end >= 0); await(&opened); CHECK(!close(end));
  }
}
static void wait_in(int call) {
  char byte = 'x';
  struct iovec piece = {&byte, 1};
  FILE *stream;
  off_t start = 0;
  int end;
  switch (call) {
    case 1: CHECK(splice(empty[0], 0, file, 0, 1, 0) == 1); break;
    case 2: CHECK(tee(empty[0], other_full[1], 1, 0) == 1 && read(empty[0], &byte, 1) == 1); break;
    case 3: CHECK(sendfile(full[1], file, &start, 1) == 1 && read(full[0], &byte, 1) == 1); break;
    case 4: CHECK(sendfile64(full[1], file, &start, 1) == 1 && read(full[0], &byte, 1) == 1); break;
    case 5: CHECK(vmsplice(full[1], &piece, 1, 0) == 1 && read(full[0], &byte, 1) == 1); break;
    case 6: CHECK(dprintf(full[1], "%c", 'x') == 1 && read(full[0], &byte, 1) == 1); break;
    case 7: end = open(name, O_RDONLY); CHECK(end >= 0 && !close(end)); break;
    default: stream = fopen(name, "w"); raise_flag(&opened); CHECK(stream && !fclose(stream));
  }
  // Full again, for the next one.
  if (call >= 3 && call < 6) CHECK(write(full[1], buffer, PART) == PART);
}
int main(void) {
  char path[] = "/tmp/atomfix-file-XXXXXX";
  file = mkstemp(path);
  CHECK(file >= 0 && !unlink(path) && !pipe(empty) && !pipe(full) && !pipe(other_full));
  CHECK(write(file, "x", 1) == 1 && lseek(file, 0, SEEK_SET) == 0 && write(full[1], buffer, PART) == PART);
  snprintf(name, sizeof name, "/tmp/atomfix-pipe-%d", (int)getpid());
  CHECK(!mkfifo(name, 0600));
  take_turns(8, wait_in);
  CHECK(!unlink(name));
  return 0;
}
