// Rounding, and floating-point exceptions that have happened, are each thread's own; it begins with its creator's.
// flags: -lm
// case own: 0
// case raised: 0
// case inherited: 1
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
static const char *is;
static int seen;
static volatile int shared;
static void *work(void *unused) {
  if (!strcmp(is, "own")) fesetround(FE_UPWARD);
  if (!strcmp(is, "raised")) feraiseexcept(FE_DIVBYZERO);
  if (!strcmp(is, "inherited")) seen = fegetround() == FE_UPWARD;
  shared = 1;
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  if (!strcmp(is, "inherited")) fesetround(FE_UPWARD);
  pthread_create(&t, 0, work, 0);
  shared = 2;
  if (!strcmp(is, "own")) seen = fegetround() == FE_UPWARD;
  if (!strcmp(is, "raised")) seen = fetestexcept(FE_DIVBYZERO) != 0;
  pthread_join(t, 0);
  printf("%d", seen);
}
