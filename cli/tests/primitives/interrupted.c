// Signals that find a thread waiting, or about to: what it waits for, and the end of its time, may come before or after.
// case read: 1 4 | deadlock-condition a thread waits in a system call for what nobody is left to do
// case futex: 4 1 | 4 2 | 110 1 | 110 2
// case poll: 0 0 | 0 1 | 1 1 | 4 1
// case receive: 4 1 | 11 0 | 11 1
// case retake: 0 0
// case compete: 0 4 | 4 0 | deadlock-condition a thread waits for a signal that nobody is left to give
// case detached: 0 1 | 4 1
// case mask: 0 0 | 0 1
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int event, result, other;
static atomic_int word, handled;
static pthread_t initial;
static sem_t go, done;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static void handler(int signal) { handled = signal == SIGUSR1; }
static int get(void) {
  uint64_t count = 0;
  return read(event, &count, sizeof count) < 0 ? errno : (int)count;
}
static void *interrupt_and_get(void *unused) {
  pthread_kill(initial, SIGUSR1);
  result = get();
  return unused;
}
static void *interrupt(void *unused) {
  struct timespec past = {1, 0};
  other = sem_timedwait(&go, &past) ? 1 : 2;
  pthread_kill(initial, SIGUSR1);
  return unused;
}
static void *interrupt_once(void *unused) {
  pthread_kill(initial, SIGUSR1);
  return unused;
}
static void *interrupt_and_put(void *unused) {
  uint64_t one = 1;
  pthread_kill(initial, SIGUSR1);
  write(event, &one, sizeof one);
  return unused;
}
static void wake(int signal) { sem_post(&done); }
static void *sleep_until_set(void *unused) {
  pthread_mutex_lock(&mutex);
  while (!word) pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void *offer(void *unused) {
  sem_post(&go);
  other = sem_wait(&go) ? errno : 0;
  pthread_kill(initial, SIGUSR1);
  return unused;
}
static void *wait(void *unused) {
  result = sem_wait(&go) ? errno : 0;
  other = handled;
  sem_post(&done);
  return unused;
}
static void *block(void *unused) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  return unused;
}
int main(int count, char **arguments) {
  const char *is = count > 1 ? arguments[1] : "";
  struct sigaction action = {.sa_handler = handler};
  sigaction(SIGUSR1, &action, NULL);
  pthread_t t;
  initial = pthread_self();
  sem_init(&go, 0, 0);
  sem_init(&done, 0, 0);
  if (!strcmp(is, "read")) {
    // One of both gets what is there. Who waits for more is interrupted, unless it was before it came there.
    event = eventfd(1, 0);
    pthread_create(&t, NULL, interrupt_and_get, NULL);
    other = get();
    pthread_join(t, NULL);
  } else if (!strcmp(is, "futex")) {
    struct timespec soon = {0, 1000000};
    pthread_create(&t, NULL, interrupt, NULL);
    sem_post(&go);
    result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon, NULL, 0) ? errno : 0;
    pthread_join(t, NULL);
  } else if (!strcmp(is, "poll")) {
    struct pollfd awaited = {event = eventfd(0, 0), POLLIN, 0};
    pthread_create(&t, NULL, interrupt_and_put, NULL);
    int found = poll(&awaited, 1, 10);
    result = found < 0 ? errno : found;
    other = handled;
    pthread_join(t, NULL);
  } else if (!strcmp(is, "receive")) {
    int ends[2];
    char byte;
    struct timeval soon = {0, 1000};
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof soon);
    pthread_create(&t, NULL, interrupt_once, NULL);
    result = recv(ends[0], &byte, 1, 0) < 0 ? errno : 0;
    other = handled;
    pthread_join(t, NULL);
  } else if (!strcmp(is, "retake")) {
    // Who was woken and waits for the mutex takes signals, too.
    struct sigaction waking = {.sa_handler = wake};
    sigaction(SIGUSR2, &waking, NULL);
    pthread_create(&t, NULL, sleep_until_set, NULL);
    pthread_mutex_lock(&mutex);
    word = 1;
    pthread_cond_signal(&condition);
    pthread_kill(t, SIGUSR2);
    sem_wait(&done);
    pthread_mutex_unlock(&mutex);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "compete")) {
    pthread_create(&t, NULL, offer, NULL);
    result = sem_wait(&go) ? errno : 0;
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
  } else if (!strcmp(is, "mask")) {
    pthread_create(&t, NULL, block, NULL);
    pthread_kill(t, SIGUSR1);
    pthread_join(t, NULL);
    other = handled;
  } else {
    pthread_create(&t, NULL, wait, NULL);
    pthread_detach(t);
    pthread_kill(t, SIGUSR1);
    sem_post(&go);
    sem_wait(&done);
  }
  printf("%d %d", result, other);
}
