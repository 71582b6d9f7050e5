// Regions held across waits for locks of files.
// languages: c c++
// stats: meet=3
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "takes_turns.h"
static int mine, others, ends[2];
enum { HERE = 0, AWAY = 1000 };  // of threads with open files of their own; of a child
static struct flock part_of(off_t from, short kind) {
  struct flock part;
  memset(&part, 0, sizeof part);
  part.l_type = kind;
  part.l_whence = SEEK_SET;
  part.l_start = from;
  part.l_len = 10;
  return part;
}
static void let_go(int call) {
  struct flock none = part_of(HERE, F_UNLCK);
  switch (call) {
    case 1: CHECK(!flock(others, LOCK_UN)); break;
    case 2: CHECK(!fcntl(others, F_OFD_SETLK, &none)); break;
    default: CHECK(!close(ends[1]));  // the child that has the lock ends
  }
}
static void wait_in(int call) {
  struct flock here = part_of(HERE, F_WRLCK), none = part_of(HERE, F_UNLCK), away = part_of(AWAY, F_WRLCK);
  switch (call) {
    case 1: CHECK(!flock(mine, LOCK_EX) && !flock(mine, LOCK_UN)); break;
    case 2: CHECK(!fcntl(mine, F_OFD_SETLKW, &here) && !fcntl(mine, F_OFD_SETLK, &none)); break;
    default: CHECK(!fcntl(mine, F_SETLKW, &away));
  }
}
int main(void) {
  FRAME;
  char name[] = "/tmp/atomfix-lock-XXXXXX", byte;
  struct flock here = part_of(HERE, F_WRLCK), away = part_of(AWAY, F_WRLCK);
  int said[2];
  mine = mkstemp(name);
  others = open(name, O_RDWR);
  CHECK(mine >= 0 && others >= 0 && !unlink(name) && !pipe(ends) && !pipe(said));
  // A lock of the process is another process's to keep.
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    close(ends[1]);
    CHECK(!fcntl(mine, F_SETLK, &away) && write(said[1], "x", 1) == 1 && read(ends[0], &byte, 1) == 0);
    _exit(0);
  }
  CHECK(read(said[0], &byte, 1) == 1);
  ACQUIRE(1, X, 3);
  // Locks that are free, and questions, give nothing up.
  CHECK(!flock(others, LOCK_EX | LOCK_NB) && flock(mine, LOCK_EX | LOCK_NB) == -1);
  CHECK(!fcntl(others, F_OFD_SETLK, &here));
  CHECK(is_held(1, R));
  RELEASE(1, 3);
  take_turns(3, wait_in);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  return 0;
}
