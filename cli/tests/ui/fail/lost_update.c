// Two threads add without a lock.
#include <assert.h>
#include <pthread.h>
static int counter;
static void *work(void *unused) {
  counter++;
  return unused;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, NULL, work, NULL);
  pthread_create(&u, NULL, work, NULL);
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  assert(counter == 2);
}
