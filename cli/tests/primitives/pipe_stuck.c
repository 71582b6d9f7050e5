// Nobody writes, and the writing end stays open.
// outcomes: deadlock-condition a thread waits in a system call for what nobody is left to do
#include <pthread.h>
#include <unistd.h>
static void *idle(void *unused) { return unused; }
int main(void) {
  pthread_t t;
  int ends[2];
  char byte;
  if (pipe(ends)) return 9;
  pthread_create(&t, NULL, idle, NULL);
  return read(ends[0], &byte, 1) != 1;
}
