// A write of more than the pipe holds waits for the reader, through stdio on the reading side; the end of the file comes with close.
// outcomes: pass
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int ends[2];
static char block[200000];
static void *fill(void *unused) {
  if (write(ends[1], block, sizeof block) != sizeof block) return ends;
  close(ends[1]);
  return unused;
}
int main(void) {
  pthread_t t;
  void *result;
  if (pipe(ends)) return 9;
  pthread_create(&t, NULL, fill, NULL);
  FILE *f = fdopen(ends[0], "r");
  static char part[100000];
  size_t sum = 0, more;
  while ((more = fread(part, 1, sizeof part, f)) > 0) sum += more;
  pthread_join(t, &result);
  return result || sum != sizeof block;
}
