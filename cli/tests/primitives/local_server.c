// Server and client in one program, over a socket with a name, with select.
// outcomes: pass
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static struct sockaddr_un name = {.sun_family = AF_UNIX};
static socklen_t length;
static void *ask(void *unused) {
  char byte = 'a';
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(s, (struct sockaddr *)&name, length) || write(s, &byte, 1) != 1 || read(s, &byte, 1) != 1) return &name;
  return byte == 'b' ? unused : &name;
}
int main(void) {
  pthread_t t;
  void *result;
  char byte;
  length = offsetof(struct sockaddr_un, sun_path) + 1 + snprintf(name.sun_path + 1, 60, "gate-%d", (int)getpid());
  int s = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(s, (struct sockaddr *)&name, length) || listen(s, 1)) return 9;
  pthread_create(&t, NULL, ask, NULL);
  fd_set wanted;
  FD_ZERO(&wanted);
  FD_SET(s, &wanted);
  if (select(s + 1, &wanted, NULL, NULL, NULL) != 1) return 8;
  int c = accept(s, NULL, NULL);
  if (read(c, &byte, 1) != 1) return 7;
  byte++;
  if (write(c, &byte, 1) != 1) return 6;
  pthread_join(t, &result);
  return result != NULL;
}
