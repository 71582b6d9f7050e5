// A kernel, or a filter of system calls, without process-wide barriers: readers fence, waiters look again, nothing else changes.
// stats: none
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include "hooks.h"
enum { THREADS = 3, ROUNDS = 600 };
static long a, b;
static void *body(void *seed) {
  unsigned random = (unsigned)(uintptr_t)seed;
  for (int i = 0; i < ROUNDS; i++) {
    FRAME;
    random = random * 1103515245 + 12345;
    if ((random >> 16) % 3) {
      ACQUIRE(0, R, 1);
      CHECK(*(volatile long *)&a == *(volatile long *)&b);
      if (i % 200 == 0) doze(2);
      RELEASE(0, 1);
    } else {
      ACQUIRE(0, X, 2);
      a++;
      b++;
      RELEASE(0, 2);
    }
  }
  return 0;
}
int main(int count, char **arguments) {
  if (count == 1) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    CHECK(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
    char *again[] = {arguments[0], (char *)"filtered", 0};
    execv("/proc/self/exe", again);
    abort();
  }
  CHECK(syscall(SYS_membarrier, 0, 0, 0) == -1);
  pthread_t threads[THREADS];
  for (uintptr_t i = 0; i < THREADS; i++) threads[i] = start(body, (void *)(i + 1));
  for (int i = 0; i < THREADS; i++) finish(threads[i]);
  CHECK(a == b && a > 0);
  return 0;
}
