/* Runs memcached with two workers in threads of this process, and talks to it over its socket from two more. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int memcached_main(int count, char **arguments);

static const char path[] = "served.socket";

static void *serve(void *unused) {
  char *arguments[] = {"memcached", "-s", (char *)path, "-t", "2", "-m", "8", "-A", "-u", "root", "-o", "no_hashexpand,no_lru_crawler", NULL};
  memcached_main(sizeof arguments / sizeof *arguments - 1, arguments);
  return unused;
}

static int dial(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  memcpy(name.sun_path, path, sizeof path);
  int end = socket(AF_UNIX, SOCK_STREAM, 0);
  while (connect(end, (struct sockaddr *)&name, sizeof name)) sleep(1);
  return end;
}

static void ask(int end, const char *text, const char *expected) {
  char answer[4096];
  size_t got = 0;
  if (write(end, text, strlen(text)) != (ssize_t)strlen(text)) exit(31);
  do {
    ssize_t more = read(end, answer + got, sizeof answer - 1 - got);
    if (more <= 0) exit(32);
    answer[got += more] = 0;
  } while (!strstr(answer, expected));
}

static void *talk(void *key) {
  char text[64];
  int end = dial();
  snprintf(text, sizeof text, "set %s 0 0 1\r\n5\r\n", (char *)key);
  ask(end, text, "STORED\r\n");
  snprintf(text, sizeof text, "incr %s 2\r\n", (char *)key);
  ask(end, text, "7\r\n");
  close(end);
  return NULL;
}

int main(void) {
  pthread_t server, one, two;
  unlink(path);
  pthread_create(&server, NULL, serve, NULL);
  pthread_create(&one, NULL, talk, "x");
  pthread_create(&two, NULL, talk, "y");
  pthread_join(one, NULL);
  pthread_join(two, NULL);
  unlink(path);
  _exit(0);
}
