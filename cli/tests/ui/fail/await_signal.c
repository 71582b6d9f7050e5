// A thread that waits for a signal which it does not block: one that comes before ends the process.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
static sigset_t set;
static void *await(void *unused) {
  int signal;
  assert(sigwait(&set, &signal) == 0 && signal == SIGUSR1);
  return unused;
}
int main(void) {
  pthread_t t;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_create(&t, NULL, await, NULL);
  assert(pthread_kill(t, SIGUSR1) == 0);
  pthread_join(t, NULL);
}
