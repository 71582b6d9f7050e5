// C11 threads: a lost update beside a right one.
#include <assert.h>
#include <threads.h>
static mtx_t mutex;
static once_flag once = ONCE_FLAG_INIT;
static int counter, guarded;
static void initialize(void) { mtx_init(&mutex, mtx_plain); }
static int work(void *unused) {
  (void)unused;
  call_once(&once, initialize);
  mtx_lock(&mutex);
  guarded++;
  mtx_unlock(&mutex);
  counter++;
  return 7;
}
int main(void) {
  thrd_t t;
  int result;
  thrd_create(&t, work, NULL);
  work(NULL);
  thrd_join(t, &result);
  assert(result == 7 && guarded == 2);
  assert(counter == 2);
}
