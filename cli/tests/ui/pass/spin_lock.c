// A lock of one's own, taken by trying to set a flag until it was clear: a try in vain writes what is there, so it changes nothing.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_flag taken = ATOMIC_FLAG_INIT;
static int count;
static void *add(void *unused) {
  while (atomic_flag_test_and_set(&taken)) { }
  count++;
  atomic_flag_clear(&taken);
  return unused;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, add, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  assert(count == 3);
}
