// Regions held across every function that reads a stream, on a pipe that is empty, while the thread that writes into it needs the lock.
// languages: c c++
// flags: -U_FORTIFY_SOURCE -D__NO_INLINE__
// stats: stream=24
#include <stdarg.h>
#include "takes_turns.h"
#include "by_name.h"
BY_NAME(int, fgetc, FILE *);
BY_NAME(int, getc, FILE *);
BY_NAME(int, getc_unlocked, FILE *);
BY_NAME(int, getchar, void);
BY_NAME(int, getchar_unlocked, void);
BY_NAME(int, __uflow, FILE *);
BY_NAME(char *, fgets, char *, int, FILE *);
BY_NAME(char *, fgets_unlocked, char *, int, FILE *);
BY_NAME(char *, __fgets_unlocked_chk, char *, size_t, int, FILE *);
BY_NAME(ssize_t, getline, char **, size_t *, FILE *);
BY_NAME(ssize_t, getdelim, char **, size_t *, int, FILE *);
BY_NAME(ssize_t, __getdelim, char **, size_t *, int, FILE *);
BY_NAME(size_t, fread, void *, size_t, size_t, FILE *);
BY_NAME(size_t, fread_unlocked, void *, size_t, size_t, FILE *);
BY_NAME(size_t, __fread_unlocked_chk, void *, size_t, size_t, size_t, FILE *);
BY_NAME(int, scanf, const char *, ...);
BY_NAME(int, fscanf, FILE *, const char *, ...);
BY_NAME(int, vscanf, const char *, va_list);
BY_NAME(int, vfscanf, FILE *, const char *, va_list);
BY_NAME(int, __isoc99_scanf, const char *, ...);
BY_NAME(int, __isoc99_fscanf, FILE *, const char *, ...);
BY_NAME(int, __isoc99_vscanf, const char *, va_list);
BY_NAME(int, __isoc99_vfscanf, FILE *, const char *, va_list);
static int ends[2];
static char line[8];
static void let_go(int call) {
  (void)call;
  CHECK(write(ends[1], "42\n", 3) == 3);
}
static int number;
static const char FORMAT[] = "%d%*c";
static int scan(int call, ...) {
  va_list arguments;
  va_start(arguments, call);
  int found;
  switch (call) {
    case 18: found = call_vscanf(FORMAT, arguments); break;
    case 19: found = call_vfscanf(stdin, FORMAT, arguments); break;
    case 22: found = call___isoc99_vscanf(FORMAT, arguments); break;
    default: found = call___isoc99_vfscanf(stdin, FORMAT, arguments);
  }
  va_end(arguments);
  return found;
}
static int reads_byte(int call) {
  switch (call) {
    case 1: return call_fgetc(stdin);
    case 2: return call_getc(stdin);
    case 3: return call_getc_unlocked(stdin);
    case 4: return call_getchar();
    case 5: return call_getchar_unlocked();
    default: return call___uflow(stdin);
  }
}
static void wait_in(int call) {
  static char *more;
  static size_t size;
  memset(line, 0, sizeof line);
  number = 0;
  switch (call) {
    case 7: CHECK(call_fgets(line, sizeof line, stdin)); break;
    case 8: CHECK(call_fgets_unlocked(line, sizeof line, stdin)); break;
    case 9: CHECK(call___fgets_unlocked_chk(line, sizeof line, sizeof line, stdin)); break;
    case 10: CHECK(call_getline(&more, &size, stdin) == 3); break;
    case 11: CHECK(call_getdelim(&more, &size, '\n', stdin) == 3); break;
    case 12: CHECK(call___getdelim(&more, &size, '\n', stdin) == 3); break;
    case 13: CHECK(call_fread(line, 1, 3, stdin) == 3); break;
    case 14: CHECK(call_fread_unlocked(line, 1, 3, stdin) == 3); break;
    case 15: CHECK(call___fread_unlocked_chk(line, sizeof line, 1, 3, stdin) == 3); break;
    case 16: CHECK(call_scanf(FORMAT, &number) == 1); break;
    case 17: CHECK(call_fscanf(stdin, FORMAT, &number) == 1); break;
    case 20: CHECK(call___isoc99_scanf(FORMAT, &number) == 1); break;
    case 21: CHECK(call___isoc99_fscanf(stdin, FORMAT, &number) == 1); break;
    case 18: case 19: case 22: case 23: CHECK(scan(call, &number) == 1); break;
    case 24: CHECK(getchar() == '4' && getchar() == '2' && getchar() == '\n'); break;
    default: CHECK(reads_byte(call) == '4' && reads_byte(1) == '2' && reads_byte(1) == '\n');
  }
  if (call >= 7 && call <= 15) CHECK(!strcmp(call >= 10 && call <= 12 ? more : line, "42\n"));
  if (call >= 16 && call <= 23) CHECK(number == 42);
}
int main(void) {
  CHECK(!pipe(ends) && dup2(ends[0], 0) == 0);
  take_turns(24, wait_in);
  return 0;
}
