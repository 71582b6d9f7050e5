// Two writers: either may come first.
// outcomes: pass | exit-status 1
#include <pthread.h>
#include <unistd.h>
static int ends[2];
static void *say(void *what) { return write(ends[1], what, 1) == 1 ? NULL : ends; }
int main(void) {
  pthread_t t, u;
  char bytes[2];
  if (pipe(ends)) return 9;
  pthread_create(&t, NULL, say, "a");
  pthread_create(&u, NULL, say, "b");
  for (int i = 0; i < 2; i++)
    if (read(ends[0], bytes + i, 1) != 1) return 8;
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  return bytes[0] == 'b';
}
