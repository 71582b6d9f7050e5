// Who only asks the kernel for something leaves nothing in it that would have to be undone.
// outcomes: pass
// note: driver restore
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>
static void *ask(void *unused) {
  struct rlimit limit;
  struct sched_param parameters;
  char folder[4096];
  if (getrlimit(RLIMIT_STACK, &limit) || sched_getparam(0, &parameters) || !getcwd(folder, sizeof folder)) _exit(1);
  if (access("/", R_OK) || getpriority(PRIO_PROCESS, 0) == -2 || sched_get_priority_max(SCHED_FIFO) < 0) _exit(2);
  if (getgid() != getegid() && getpgrp() == getsid(0) && sched_getscheduler(0) < 0) _exit(3);
  return unused;
}
int main() {
  pthread_t t;
  pthread_create(&t, NULL, ask, NULL);
  ask(NULL);
  pthread_join(t, NULL);
}
