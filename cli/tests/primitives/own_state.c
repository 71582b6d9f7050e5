// What the kernel keeps for each thread is one here: that is named where it shows. (The main thread's priority is not what it sees, which is 0.)
// case own: pass
// case before: pass
// case nice: 5
// case given: pass
// case unasked: pass
// note nice: threads are told, or changed, what the kernel keeps for each of them
// covers nice: what is seen
// note given: threads are told, or changed, what the kernel keeps for each of them
// covers given: what is seen
// case slack: pass
// note slack: what the kernel keeps for each of them
// covers slack: what is seen
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
static const char *is;
static int seen;
static cpu_set_t set;
static void *work(void *unused) {
  cpu_set_t own = set;
  if (!strcmp(is, "own")) sched_setaffinity(0, sizeof own, &own);
  if (!strcmp(is, "own") || !strcmp(is, "before") || !strcmp(is, "given")) sched_getaffinity(0, sizeof own, &own);
  if (!strcmp(is, "nice")) setpriority(PRIO_PROCESS, 0, 5);
  if (!strcmp(is, "slack")) prctl(PR_SET_TIMERSLACK, 1234);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  sched_getaffinity(0, sizeof set, &set);
  if (!strcmp(is, "before")) sched_setaffinity(0, sizeof set, &set);
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "given") || !strcmp(is, "unasked")) pthread_setaffinity_np(t, sizeof set, &set);
  if (!strcmp(is, "slack")) prctl(PR_GET_TIMERSLACK);
  if (!strcmp(is, "nice")) pthread_join(t, 0), seen = getpriority(PRIO_PROCESS, 0);
  else pthread_join(t, 0);
  if (!strcmp(is, "nice")) printf("%d", seen);
}
