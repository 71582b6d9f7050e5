// Regions held across the calls that wait for message queues and semaphores of System V and POSIX.
// The other thread's calls could wait too: five of them give up what it holds.
// languages: c c++
// stats: meet=13
#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include "takes_turns.h"
struct message {
  long kind;
  char text[1];
};
static struct message message = {1, {'x'}};
static int empty, full, semaphores;
static mqd_t posix_empty, posix_full;
static const struct timespec at_last = {4000000000, 0}, for_long = {600, 0};
static void add(int number, short flags) {
  struct sembuf operation = {0, (short)number, flags};
  CHECK(!semop(semaphores, &operation, 1));
}
static void let_go(int call) {
  struct message there;
  char byte;
  switch (call) {
    case 1: CHECK(!msgsnd(empty, &message, 1, 0)); break;
    case 2: CHECK(msgrcv(full, &there, 1, 0, IPC_NOWAIT) == 1); break;
    case 3: case 4: add(1, 0); break;
    case 5: case 6: CHECK(!mq_send(posix_empty, "x", 1, 0)); break;
    default: CHECK(mq_receive(posix_full, &byte, 1, 0) == 1);
  }
}
static void wait_in(int call) {
  struct message there;
  struct sembuf take = {0, -1, 0};
  char byte;
  switch (call) {
    case 1: CHECK(msgrcv(empty, &there, 1, 0, 0) == 1); break;
    case 2: CHECK(!msgsnd(full, &message, 1, 0)); break;
    case 3: CHECK(!semop(semaphores, &take, 1)); break;
    case 4: CHECK(!semtimedop(semaphores, &take, 1, &for_long)); break;
    case 5: CHECK(mq_receive(posix_empty, &byte, 1, 0) == 1); break;
    case 6: CHECK(mq_timedreceive(posix_empty, &byte, 1, 0, &at_last) == 1); break;
    case 7: CHECK(!mq_send(posix_full, "x", 1, 0)); break;
    default: CHECK(!mq_timedsend(posix_full, "x", 1, 0, &at_last));
  }
}
static mqd_t queue(const char *kind) {
  char name[60];
  struct mq_attr attributes;
  memset(&attributes, 0, sizeof attributes);
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 1;
  snprintf(name, sizeof name, "/atomfix-%s-%d", kind, (int)getpid());
  mqd_t made = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  CHECK(made != (mqd_t)-1 && !mq_unlink(name));
  return made;
}
int main(void) {
  FRAME;
  struct message there;
  empty = msgget(IPC_PRIVATE, 0600);
  full = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  CHECK(empty >= 0 && full >= 0 && semaphores >= 0);
  while (!msgsnd(full, &message, 1, IPC_NOWAIT)) {
  }
  posix_empty = queue("empty");
  posix_full = queue("full");
  CHECK(!mq_send(posix_full, "x", 1, 0));
  ACQUIRE(1, X, 3);
  // Asking, and adding, give nothing up.
  CHECK(msgrcv(empty, &there, 1, 0, IPC_NOWAIT) == -1 && errno == ENOMSG);
  add(1, 0);
  add(-1, IPC_NOWAIT);
  CHECK(is_held(1, R));
  RELEASE(1, 3);
  take_turns(8, wait_in);
  CHECK(!msgctl(empty, IPC_RMID, 0) && !msgctl(full, IPC_RMID, 0) && !semctl(semaphores, 0, IPC_RMID));
  return 0;
}
