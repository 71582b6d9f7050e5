// Who spins with a lock that it holds all the time goes in a circle too: others go on, and who cannot, for the lock, waits for ever.
// case flag: pass
// case needed: pass | livelock a thread spins on something that nobody is left to change
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static atomic_int flag;
static void *spin(void *unused) {
  pthread_mutex_lock(&m);
  while (!flag) sched_yield();
  pthread_mutex_unlock(&m);
  return unused;
}
int main(int count, char **arguments) {
  const char *is = arguments[count - 1];
  pthread_t t;
  pthread_create(&t, NULL, spin, NULL);
  if (!strcmp(is, "needed")) pthread_mutex_lock(&m);
  flag = 1;
  if (!strcmp(is, "needed")) pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
}
