// A loop that looks at the clock: that it is late before the other thread comes is not explored, and the result says so.
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int done;
static void *set(void *unused) {
  done = 1;
  return unused;
}
static long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000 + time.tv_nsec;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, set, NULL);
  long end = now() + 1000;
  while (!done && now() < end) {
  }
  pthread_join(t, NULL);
}
