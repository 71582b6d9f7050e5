// A function that the program has run after `main` is run under every driver.
// case restore: main gone
// case fork: main gone
// options fork: --driver fork
#include <pthread.h>
#include <stdio.h>
__attribute__((destructor)) static void gone(void) { printf(" gone"); }
static void *thread(void *unused) { return unused; }
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, thread, NULL);
  pthread_join(t, NULL);
  printf("main");
}
