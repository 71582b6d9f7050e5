// A thread that goes round until another has written: not enabled in between, so plans must not count on its turns.
// case main: pass | livelock a thread spins on something that nobody is left to change
// case thread: 0 | 1 | livelock a thread spins on something that nobody is left to change
// case both: pass | livelock a thread spins on something that nobody is left to change
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_int first, second, third;

static void *write_first(void *unused) {
  first = 1;
  return unused;
}

static void *write_second_if_early(void *unused) {
  if (first == 0) second = 42;
  return unused;
}

static void *write_third(void *unused) {
  third = 1;
  return unused;
}

static void *await_second(void *unused) {
  while (second != 42) {
  }
  return unused;
}

int main(int count, char **arguments) {
  pthread_t one, two, three;
  const char *what = count > 1 ? arguments[1] : "main";
  pthread_create(&one, NULL, write_first, NULL);
  pthread_create(&two, NULL, write_second_if_early, NULL);
  if (strcmp(what, "thread") == 0) {
    pthread_create(&three, NULL, await_second, NULL);
    pthread_join(three, NULL);
    printf("%d\n", first);
    fflush(stdout);
    _Exit(0);
  }
  if (strcmp(what, "both") == 0) pthread_create(&three, NULL, write_third, NULL);
  await_second(NULL);
  if (strcmp(what, "both") == 0)
    while (!third) {
    }
  return 0;
}
