// What the program does about a signal, set by one thread and asked for, or met with, by another.
// case asked: 0 | 1
// case taken: 1 | signal SIGUSR1
// case replaced: 0 | 1
// case before: 1
// case others: 0
// case stack: 1
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
static const char *is;
static int seen;
static char room[65536];
static void handle(int signal) { seen = signal == SIGUSR1; }
static void *work(void *unused) {
  signal(strcmp(is, "others") ? SIGUSR1 : SIGUSR2, handle);
  stack_t own = {room, 0, sizeof room}, found;
  if (!strcmp(is, "stack")) sigaltstack(&own, 0), sigaltstack(0, &found), seen = found.ss_sp == room;
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  struct sigaction now;
  if (!strcmp(is, "before")) signal(SIGUSR1, handle);
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "asked") || !strcmp(is, "others")) sigaction(SIGUSR1, 0, &now), seen = now.sa_handler == handle;
  if (!strcmp(is, "stack")) {
    stack_t none;
    sigaltstack(0, &none);
    if (!(none.ss_flags & SS_DISABLE)) return 3;
  }
  if (!strcmp(is, "taken") || !strcmp(is, "before")) raise(SIGUSR1);
  if (!strcmp(is, "replaced")) seen = signal(SIGUSR1, SIG_IGN) == handle;
  pthread_join(t, 0);
  printf("%d", seen);
}
