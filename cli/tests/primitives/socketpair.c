// Question and answer over a socket pair; the reader sees the end when the other side is shut.
// outcomes: pass
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
static int ends[2];
static void *echo(void *unused) {
  char byte;
  while (recv(ends[1], &byte, 1, 0) == 1)
    if (send(ends[1], &byte, 1, 0) != 1) return ends;
  return unused;
}
int main(void) {
  pthread_t t;
  void *result;
  char byte = 'q';
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) return 9;
  pthread_create(&t, NULL, echo, NULL);
  if (send(ends[0], &byte, 1, 0) != 1 || recv(ends[0], &byte, 1, 0) != 1 || byte != 'q') return 1;
  shutdown(ends[0], SHUT_WR);
  pthread_join(t, &result);
  return result != NULL;
}
