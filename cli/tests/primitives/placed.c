// A thread that says by its own number where it is to run, and how urgently.
// outcomes: pass
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *place(void *unused) {
  (void)unused;
  pid_t me = (pid_t)syscall(SYS_gettid);
  cpu_set_t processors = {0};
  assert(sched_getaffinity(me, sizeof processors, &processors) == 0);
  assert(sched_setaffinity(me, sizeof processors, &processors) == 0);
  assert(sched_getscheduler(me) == sched_getscheduler(0));
  assert(setpriority(PRIO_PROCESS, (id_t)me, 19) == 0);
  assert(getpriority(PRIO_PROCESS, (id_t)me) == 19);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, place, NULL);
  pthread_join(thread, NULL);
}
