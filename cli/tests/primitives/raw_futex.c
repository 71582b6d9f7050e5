// A futex by instructions of its own, past the C library: waiting and waking are seen all the same.
// outcomes: pass
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
static atomic_int ready;
static long call(long number, void *a, long b, long c) {
  long result;
  register long timeout __asm__("r10") = 0;
  __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(timeout) : "rcx", "r11", "memory");
  return result;
}
static void *post(void *unused) {
  ready = 1;
  call(SYS_futex, &ready, FUTEX_WAKE, 1);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, post, NULL);
  while (!ready) call(SYS_futex, &ready, FUTEX_WAIT, 0);
  pthread_join(t, NULL);
}
