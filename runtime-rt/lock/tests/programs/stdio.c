// Streams on a pipe: what is in the buffer or ready gives nothing up, a line that nobody has written yet gives up everything.
// languages: c c++
// stats: stream=6
#include "hooks.h"
static int ends[2];
static FILE *in;
static volatile int go;
static void *body(void *unused) {
  FRAME;
  for (int i = 1; i <= 6; i++) {
    while (go != i) doze(1);
    ACQUIRE(0, X, 2);  // enters only because the reader gave up
    CHECK(write(ends[1], "42\n", 3) == 3);
    RELEASE(0, 2);
  }
  return unused;
}
int main(void) {
  FRAME;
  char line[8], *more = 0;
  size_t size = 0;
  int number;
  CHECK(!pipe(ends) && (in = fdopen(ends[0], "r")));
  CHECK(write(ends[1], "a\nb\n", 4) == 4);
  ACQUIRE(1, X, 1);
  errno = 77;
  CHECK(fgets(line, sizeof line, in) && fgetc(in) == 'b' && getc(in) == '\n' && errno == 77);
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  pthread_t thread = start(body, 0);
  for (int i = 1; i <= 6; i++) {
    ACQUIRE(0, X, 1);
    go = i;
    switch (i) {
      case 1: CHECK(fgets(line, sizeof line, in) && !strcmp(line, "42\n")); break;
      case 2: CHECK(fgetc(in) == '4' && getc(in) == '2' && getc_unlocked(in) == '\n'); break;
      case 3: CHECK(getline(&more, &size, in) == 3); break;
      case 4: CHECK(fread(line, 1, 3, in) == 3); break;
      case 5: CHECK(fscanf(in, "%d", &number) == 1 && number == 42 && fgetc(in) == '\n'); break;
      default: CHECK(dup2(ends[0], 0) == 0 && getchar() == '4' && getchar() == '2' && getchar() == '\n');
    }
    RELEASE(0, 1);
  }
  finish(thread);
  free(more);
  return 0;
}
