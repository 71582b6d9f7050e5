// Threads that wait for each other at queues of messages and at semaphores that the kernel keeps.
// case posix: ab | ba
// case posix-full: ab | ba
// case posix-late: a | late
// case posix-now: a | none
// case queue: ab | ba
// case queue-full: ab | ba
// case queue-kind: b
// case queue-now: a | none
// case semaphore: pass
// case semaphore-late: late | pass
// case semaphore-zero: pass
// case stuck: deadlock-condition a thread waits in a system call for what nobody is left to do
// case several: deadlock-condition a thread waits in a system call for what nobody is left to do | pass
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>
typedef struct {
  long kind;
  char text;
} Message;
static const char *is;
static int queue, semaphores;
static mqd_t posix;
static void add(int by) { semop(semaphores, &(struct sembuf){0, by, 0}, 1); }
static void *send(void *text) {
  char letter = *(char *)text;
  if (!strcmp(is, "several")) add(-1), add(letter == 'a' ? 1 : 0);
  if (!strncmp(is, "posix", 5)) mq_send(posix, &letter, 1, 0);
  if (!strncmp(is, "queue", 5)) msgsnd(queue, &(Message){letter, letter}, 1, 0);
  if (!strcmp(is, "semaphore-zero")) add(-1);
  else if (!strncmp(is, "semaphore", 9)) add(letter == 'a' ? 1 : 2);
  return 0;
}
static char take(int flags, long kind) {
  Message message = {0, '-'};
  msgrcv(queue, &message, 1, kind, flags);
  return message.text;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t[2];
  char text[8] = "";
  int full = strstr(is, "full") != 0, one = strstr(is, "late") || strstr(is, "now");
  queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  struct mq_attr attributes = {.mq_maxmsg = full ? 1 : 2, .mq_msgsize = 1};
  posix = mq_open("/atomfix-test-queue", O_CREAT | O_RDWR, 0600, &attributes);
  mq_unlink("/atomfix-test-queue");
  struct msqid_ds limits;
  msgctl(queue, IPC_STAT, &limits);
  limits.msg_qbytes = 1;
  if (full) msgctl(queue, IPC_SET, &limits);
  if (!strcmp(is, "several")) add(1);
  if (!strcmp(is, "semaphore-zero")) add(2);
  if (strcmp(is, "stuck"))
    for (int i = 0; i < (one ? 1 : 2) ; i++) pthread_create(&t[i], 0, send, &"ab"[i]);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec += 1;
  if (!strcmp(is, "posix") || !strcmp(is, "posix-full")) {
    mq_receive(posix, text, 1, 0);
    mq_receive(posix, text + 1, 1, 0);
  }
  if (!strcmp(is, "posix-late") && mq_timedreceive(posix, text, 1, 0, &soon) < 0) strcpy(text, errno == ETIMEDOUT ? "late" : "?");
  if (!strcmp(is, "posix-now")) {
    fcntl(posix, F_SETFL, O_NONBLOCK);
    if (mq_receive(posix, text, 1, 0) < 0) strcpy(text, errno == EAGAIN ? "none" : "?");
  }
  if (!strcmp(is, "queue") || !strcmp(is, "queue-full")) text[0] = take(0, 0), text[1] = take(0, 0);
  if (!strcmp(is, "queue-kind")) text[0] = take(0, 'b');
  if (!strcmp(is, "queue-now") && (text[0] = take(IPC_NOWAIT, 0)) == '-') strcpy(text, errno == ENOMSG ? "none" : "?");
  if (!strcmp(is, "stuck")) take(0, 0);
  if (!strcmp(is, "semaphore")) add(-1), add(-2);
  struct sembuf take_one = {0, -1, 0};
  if (!strcmp(is, "semaphore-late") && semtimedop(semaphores, &take_one, 1, &(struct timespec){1, 0})) strcpy(text, errno == EAGAIN ? "late" : "?");
  if (!strcmp(is, "semaphore-zero")) add(0);
  if (strcmp(is, "stuck"))
    for (int i = 0; i < (one ? 1 : 2); i++) pthread_join(t[i], 0);
  msgctl(queue, IPC_RMID, 0);
  semctl(semaphores, 0, IPC_RMID);
  printf("%s", text);
}
