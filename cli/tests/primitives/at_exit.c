// What the program registers for the end of its process runs there, under every driver.
// case nothing: main
// case handler: main bye
// case fork: main bye
// options fork: --driver fork
// case thread: main bye
// case stream: main waited
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char *is;
static void bye(void) { printf(" bye"); }
static void *thread(void *unused) {
  if (!strcmp(is, "thread")) atexit(bye);
  return unused;
}
static ssize_t show(void *unused, const char *text, size_t length) { return write(1, text, length); }
int main(int argc, char **argv) {
  is = argc > 1 ? argv[1] : "";
  if (!strcmp(is, "handler") || !strcmp(is, "fork")) atexit(bye);
  // A stream of its own, in whose buffer something waits at the end.
  if (!strcmp(is, "stream")) fputs(" waited", fopencookie(NULL, "w", (cookie_io_functions_t){.write = show}));
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  printf("main");
}
