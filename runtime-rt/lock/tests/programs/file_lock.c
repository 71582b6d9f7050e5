// Regions held across waits for locks of files.
// languages: c c++
// stats: meet=6
#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include "takes_turns.h"
static int mine, others, ends[4][2];
enum { HERE = 0, AWAY = 1000, CHILDREN = 4 };  // of threads with open files of their own; of a child
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
    default: CHECK(!close(ends[call - 3][1]));  // the child that has the lock ends
  }
}
static void wait_in(int call) {
  struct flock here = part_of(HERE, F_WRLCK), none = part_of(HERE, F_UNLCK), away = part_of(AWAY * (call - 2), F_WRLCK);
  CHECK(call < 3 || lseek(mine, AWAY * (call - 2), SEEK_SET) >= 0);
  switch (call) {
    case 1: CHECK(!flock(mine, LOCK_EX) && !flock(mine, LOCK_UN)); break;
    case 2: CHECK(!fcntl(mine, F_OFD_SETLKW, &here) && !fcntl(mine, F_OFD_SETLK, &none)); break;
    case 3: CHECK(!fcntl(mine, F_SETLKW, &away)); break;
    case 4: CHECK(!fcntl64(mine, F_SETLKW, &away)); break;
    case 5: CHECK(!lockf(mine, F_LOCK, 10)); break;
    default: CHECK(!lockf64(mine, F_LOCK, 10));
  }
}
int main(void) {
  FRAME;
  char name[] = "/tmp/atomfix-lock-XXXXXX", byte;
  struct flock here = part_of(HERE, F_WRLCK);
  int said[2];
  pid_t children[CHILDREN];
  mine = mkstemp(name);
  others = open(name, O_RDWR);
  CHECK(mine >= 0 && others >= 0 && !unlink(name) && !pipe(said));
  for (int i = 0; i < CHILDREN; i++) CHECK(!pipe(ends[i]));
  // A lock of the process is another process's to keep.
  for (int i = 0; i < CHILDREN; i++) {
    children[i] = fork();
    CHECK(children[i] >= 0);
    if (children[i]) continue;
    for (int j = 0; j < CHILDREN; j++) close(ends[j][1]);
    struct flock away = part_of(AWAY * (i + 1), F_WRLCK);
    CHECK(!fcntl(mine, F_SETLK, &away) && write(said[1], "x", 1) == 1 && read(ends[i][0], &byte, 1) == 0);
    _exit(0);
  }
  for (int i = 0; i < CHILDREN; i++) CHECK(read(said[0], &byte, 1) == 1);
  ACQUIRE(1, X, 3);
  // Locks that are free, and questions, give nothing up.
  CHECK(!flock(others, LOCK_EX | LOCK_NB) && flock(mine, LOCK_EX | LOCK_NB) == -1);
  CHECK(!fcntl(others, F_OFD_SETLK, &here));
  CHECK(is_held(1, R));
  RELEASE(1, 3);
  take_turns(2 + CHILDREN, wait_in);
  int status;
  for (int i = 0; i < CHILDREN; i++) CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
  return 0;
}
