// Functions into which no lock may be placed are explored all the same; where hooks would change what they do, they are named.
// case setjmp: 1 | 2
// case cleanup: 1 | 2
// case goto: 1 | 2
// case tail: 1 | 2
// case naked: pass
// note naked: not instrumented: nothing (it is naked)
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static int n;
static void *jumps(void *unused) {
  jmp_buf place;
  if (setjmp(place) == 0) {
    int was = n;
    n = was + 1;
    longjmp(place, 1);
  }
  return unused;
}
static void clean(void *unused) { (void)unused; }
static void *cleans_up(void *unused) {
  pthread_cleanup_push(clean, NULL);
  int was = n;
  n = was + 1;
  pthread_cleanup_pop(1);
  return unused;
}
static void *goes(void *unused) {
  int was = n;
  __asm__ goto("" : : : : out);
  n = was + 1;
out:
  return unused;
}
static void *ends(void *unused) { return unused; }
static void *calls_last(void *unused) {
  int was = n;
  n = was + 1;
  __attribute__((musttail)) return ends(unused);
}
__attribute__((naked, used)) static void nothing(void) { __asm__("ret"); }
static void *calls(void *unused) {
  nothing();
  return unused;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  void *(*run)(void *) = !strcmp(is, "setjmp") ? jumps : !strcmp(is, "cleanup") ? cleans_up : !strcmp(is, "goto") ? goes : !strcmp(is, "tail") ? calls_last : calls;
  pthread_t t;
  pthread_create(&t, NULL, run, NULL);
  run(NULL);
  pthread_join(t, NULL);
  if (n) printf("%d", n);
  fflush(stdout);
}
