// Regions held across every call that opens a named pipe, which waits for its other end, while that end needs the lock.
// languages: c c++
// flags: -U_FORTIFY_SOURCE
// stats: stream=14
#include <fcntl.h>
#include <sys/stat.h>
#include "takes_turns.h"
#include "by_name.h"
BY_NAME(int, __open_2, const char *, int);
BY_NAME(int, __open64_2, const char *, int);
BY_NAME(int, __openat_2, int, const char *, int);
BY_NAME(int, __openat64_2, int, const char *, int);
enum { READING = 12, CALLS = 14 };
static char name[60];
static FILE *stream;
static volatile int opened;
static void let_go(int call) {
  int end, flags = (call <= READING ? O_WRONLY : O_RDONLY) | O_NONBLOCK;
  // The one that waits has given up, but may not have got to its wait.
  while ((end = open(name, flags)) < 0) doze(1);
  if (call > READING) await(&opened);
  opened = 0;
  CHECK(!close(end));
}
static void wait_in(int call) {
  int end = -1;
  switch (call) {
    case 1: end = open(name, O_RDONLY); break;
    case 2: end = open64(name, O_RDONLY); break;
    case 3: end = openat(AT_FDCWD, name, O_RDONLY); break;
    case 4: end = openat64(AT_FDCWD, name, O_RDONLY); break;
    case 5: end = call___open_2(name, O_RDONLY); break;
    case 6: end = call___open64_2(name, O_RDONLY); break;
    case 7: end = call___openat_2(AT_FDCWD, name, O_RDONLY); break;
    case 8: end = call___openat64_2(AT_FDCWD, name, O_RDONLY); break;
    case 9: stream = fopen(name, "r"); break;
    case 10: stream = freopen(name, "r", stream); break;
    case 11: stream = freopen64(name, "r", stream); break;
    case 12: CHECK(!fclose(stream)); stream = fopen64(name, "r"); break;
    case 13: end = creat(name, 0600); break;
    default: end = creat64(name, 0600);
  }
  if (call > READING) raise_flag(&opened);
  CHECK(end >= 0 ? !close(end) : stream != 0);
}
int main(void) {
  snprintf(name, sizeof name, "/tmp/atomfix-open-%d", (int)getpid());
  CHECK(!mkfifo(name, 0600));
  take_turns(CALLS, wait_in);
  CHECK(!unlink(name));
  return 0;
}
