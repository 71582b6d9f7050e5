// Without options the archive opens no file and writes nothing: under a filter of system calls that kills for either, a program that
// waits, gives up and revokes ends well.
// stats: silent
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include "hooks.h"
static volatile int held, flag;
static void *body(void *unused) {
  FRAME;
  ACQUIRE(0, X, 2);
  raise_flag(&held);
  while (!flag) {
  }
  RELEASE(0, 2);
  return unused;
}
#define KILL(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
static void forbid(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      KILL(openat), KILL(open), KILL(creat), KILL(write), KILL(writev), KILL(sendto), KILL(socket),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}
int main(int count, char **arguments) {
  if (count == 1) {
    CHECK(!unsetenv("ATOMFIX_OPTIONS"));
    char *again[] = {arguments[0], (char *)"again", 0};
    execv("/proc/self/exe", again);
    abort();
  }
  FRAME;
  forbid();
  pthread_t thread = start(body, 0);
  await(&held);
  ACQUIRE(0, X, 1);  // revokes
  flag = 1;
  usleep(1000);  // gives up
  finish(thread);
  return 0;
}
