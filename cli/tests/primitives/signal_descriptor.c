// A signal of one thread does not come to a descriptor: a thread that waits for it there is no deadlock.
// outcomes: pass
// note: the program reads signals from a descriptor: those of its own threads do not come there
// covers: what is seen
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>
static void *send(void *to) {
  pthread_kill(*(pthread_t *)to, SIGUSR1);
  return 0;
}
int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, 0);
  int descriptor = signalfd(-1, &set, 0);
  pthread_t t, me = pthread_self();
  pthread_create(&t, 0, send, &me);
  struct signalfd_siginfo information;
  assert(read(descriptor, &information, sizeof information) == sizeof information);
  pthread_join(t, 0);
  return 0;
}
