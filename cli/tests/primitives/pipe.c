// A read waits for the other thread's write.
// outcomes: pass
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *answer(void *unused) { return write(ends[1], "x", 1) == 1 ? unused : ends; }
int main(void) {
  pthread_t t;
  void *result;
  char byte = 0;
  if (pipe(ends)) return 1;
  pthread_create(&t, NULL, answer, NULL);
  if (read(ends[0], &byte, 1) != 1 || byte != 'x') return 2;
  pthread_join(t, &result);
  return result ? 3 : 0;
}
