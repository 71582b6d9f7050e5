// Two threads that share nothing: one schedule is all there is to explore without preemptions.
#include <pthread.h>
static int a, b;
static void *first(void *unused) { a++; return unused; }
static void *second(void *unused) { b++; return unused; }
int main(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, first, NULL);
  pthread_create(&u, NULL, second, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  return a + b - 2;
}
