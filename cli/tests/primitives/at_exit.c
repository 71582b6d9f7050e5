// What the program registers for the end of its process runs there, under every driver.
// case nothing: main
// case handler: main bye
// case fork: main bye
// options fork: --driver fork
// case thread: main bye
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static const char *is;
static void bye(void) { printf(" bye"); }
static void *thread(void *unused) {
  if (!strcmp(is, "thread")) atexit(bye);
  return unused;
}
int main(int argc, char **argv) {
  is = argc > 1 ? argv[1] : "";
  if (!strcmp(is, "handler") || !strcmp(is, "fork")) atexit(bye);
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  printf("main");
}
