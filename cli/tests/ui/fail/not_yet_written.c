// The failing thread reads what its creator is about to write: a replay must leave the creator standing before the write.
#include <assert.h>
#include <pthread.h>
static int known;
static void *work(void *unused) {
  assert(known);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  known = 1;
  pthread_join(t, NULL);
}
