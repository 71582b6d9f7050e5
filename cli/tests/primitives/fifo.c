// A named pipe: opening it for writing waits for the reader.
// outcomes: pass
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static char name[64];
static void *talk(void *unused) {
  int fd = open(name, O_WRONLY);
  if (fd < 0 || write(fd, "hi", 2) != 2) return name;
  close(fd);
  return unused;
}
int main(void) {
  pthread_t t;
  void *result;
  char text[8];
  snprintf(name, sizeof name, "fifo.%d", (int)getpid());
  if (mkfifo(name, 0600)) return 9;
  pthread_create(&t, NULL, talk, NULL);
  FILE *f = fopen(name, "r");
  int bytes = f ? (int)fread(text, 1, sizeof text, f) : -1;
  pthread_join(t, &result);
  unlink(name);
  return result || bytes != 2;
}
