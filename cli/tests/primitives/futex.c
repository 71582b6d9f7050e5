// The futex system call, by way of the C library.
// case wait: 1
// case value-changed: 11
// case timed: 0 | 110 | 11
// case written-behind: 0 1 | 0 2 | 11 1 | 11 2
// case wake-one: 1
// case wake-all: 2
// case bitset: 1
// case other-bits: 0 1
// case no-bits: 22 22
// case nowhere: 14 22
// case interrupted: 0 | 4
// case interrupted-timed: 0 | 4 | 110
// case restarted: 11
// case restarted-timed: 4 | 11 | 110
// case ignored: 0 | 11
// case requeue: pass
// covers requeue: what is seen
// note requeue: the program moves waiters between futexes
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static atomic_int word, woken, waiting;
static long futex(int operation, int value, const struct timespec *time) {
  return syscall(SYS_futex, &word, operation, value, time, NULL, FUTEX_BITSET_MATCH_ANY);
}
static void *set(void *unused) {
  word = 1;
  futex(FUTEX_WAKE_PRIVATE, 1, NULL);
  return unused;
}
static void *wait_there(void *unused) {
  while (!word) futex(FUTEX_WAIT, 0, NULL);
  woken++;
  return unused;
}
static void *wait_once(void *unused) {
  waiting++;
  futex(FUTEX_WAIT, 0, NULL);
  woken++;
  return unused;
}
static void *wait_and_look(void *unused) {
  waiting = futex(FUTEX_WAIT, 0, NULL) ? errno : 0;
  woken = word;
  return unused;
}
static long futex_for(int operation, unsigned bits) { return syscall(SYS_futex, &word, operation, operation == FUTEX_WAKE_BITSET, NULL, NULL, bits); }
static void *wait_for_two(void *unused) {
  futex_for(FUTEX_WAIT_BITSET, 2);
  woken++;
  return unused;
}
static void write_word(int unused) {
  (void)unused;
  word = 1;
}
static void only_run(int unused) { (void)unused; }
static void *wait_for_result(void *span) {
  woken = futex(FUTEX_WAIT, 0, span) ? errno : 0;
  waiting = 1;
  return NULL;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  struct timespec span = {1, 0};
  pthread_t t, u;
  int result;
  if (!strcmp(is, "wait") || !strcmp(is, "bitset")) {
    pthread_create(&t, NULL, set, NULL);
    while (!word) futex(*is == 'w' ? FUTEX_WAIT : FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, NULL);
    pthread_join(t, NULL);
    printf("%d", (int)word);
  } else if (!strcmp(is, "value-changed")) {
    futex(FUTEX_WAIT, 1, NULL);
    printf("%d", errno);
  } else if (!strcmp(is, "timed")) {
    pthread_create(&t, NULL, set, NULL);
    result = futex(FUTEX_WAIT, 0, &span) ? errno : 0;
    pthread_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "written-behind")) {
    // Who was woken may look before the word is written again, or after.
    pthread_create(&t, NULL, wait_and_look, NULL);
    word = 1;
    futex(FUTEX_WAKE, 1, NULL);
    word = 2;
    pthread_join(t, NULL);
    printf("%d %d", (int)waiting, (int)woken);
  } else if (!strcmp(is, "wake-one")) {
    pthread_create(&t, NULL, wait_once, NULL);
    // The wake-up says whether there was anyone.
    while (!futex(FUTEX_WAKE, 1, NULL)) { }
    pthread_join(t, NULL);
    printf("%d", (int)woken);
  } else if (!strcmp(is, "wake-all")) {
    pthread_create(&t, NULL, wait_there, NULL);
    pthread_create(&u, NULL, wait_there, NULL);
    word = 1;
    futex(FUTEX_WAKE, INT_MAX, NULL);
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    printf("%d", (int)woken);
  } else if (!strcmp(is, "other-bits")) {
    // Who waits for other bits is not woken.
    pthread_create(&t, NULL, wait_for_two, NULL);
    result = (int)futex_for(FUTEX_WAKE_BITSET, 1);
    word = 1;
    futex_for(FUTEX_WAKE_BITSET, 3);
    pthread_join(t, NULL);
    printf("%d %d", result, (int)woken);
  } else if (!strcmp(is, "no-bits")) {
    printf("%d ", futex_for(FUTEX_WAIT_BITSET, 0) ? errno : 0);
    printf("%d", futex_for(FUTEX_WAKE_BITSET, 0) ? errno : 0);
  } else if (!strcmp(is, "nowhere")) {
    printf("%d ", syscall(SYS_futex, (void *)64, FUTEX_WAIT, 0, NULL, NULL, 0) ? errno : 0);
    printf("%d", syscall(SYS_futex, (char *)&word + 1, FUTEX_WAIT, 0, NULL, NULL, 0) ? errno : 0);
  } else if (strstr(is, "interrupted") || strstr(is, "restarted") || strstr(is, "ignored")) {
    // A call that is made again after the handler finds what that has written; one with a time limit is not made again.
    struct sigaction action = {.sa_handler = *is == 'i' ? only_run : write_word, .sa_flags = *is == 'r' ? SA_RESTART : 0};
    if (!strcmp(is, "ignored")) action.sa_handler = SIG_IGN;
    sigaction(SIGUSR1, &action, NULL);
    pthread_create(&t, NULL, wait_for_result, strstr(is, "timed") ? &span : NULL);
    pthread_kill(t, SIGUSR1);
    // Without a wake-up, nobody else ends the wait of one who comes to it after the signal.
    if (*is == 'i') {
      if (!strcmp(is, "ignored")) word = 1;
      while (!waiting && !futex(FUTEX_WAKE, 1, NULL)) { }
    }
    pthread_join(t, NULL);
    printf("%d", (int)woken);
  } else {
    syscall(SYS_futex, &word, FUTEX_REQUEUE, 0, NULL, &waiting, 0);
  }
  fflush(stdout);
}
