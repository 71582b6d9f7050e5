// Regions held across every function that writes a stream or formats into a descriptor, on a pipe that is full, while the thread that
// reads from it needs the lock.
// languages: c c++
// flags: -U_FORTIFY_SOURCE -D__NO_INLINE__
// stats: stream=27
#include <fcntl.h>
#include <stdarg.h>
#include "takes_turns.h"
#include "by_name.h"
BY_NAME(int, fputc, int, FILE *);
BY_NAME(int, putc, int, FILE *);
BY_NAME(int, putchar, int);
BY_NAME(int, fputc_unlocked, int, FILE *);
BY_NAME(int, putc_unlocked, int, FILE *);
BY_NAME(int, putchar_unlocked, int);
BY_NAME(int, fputs, const char *, FILE *);
BY_NAME(int, puts, const char *);
BY_NAME(size_t, fwrite, const void *, size_t, size_t, FILE *);
BY_NAME(int, fputs_unlocked, const char *, FILE *);
BY_NAME(size_t, fwrite_unlocked, const void *, size_t, size_t, FILE *);
BY_NAME(int, __overflow, FILE *, int);
BY_NAME(int, printf, const char *, ...);
BY_NAME(int, fprintf, FILE *, const char *, ...);
BY_NAME(int, vprintf, const char *, va_list);
BY_NAME(int, vfprintf, FILE *, const char *, va_list);
BY_NAME(int, __printf_chk, int, const char *, ...);
BY_NAME(int, __fprintf_chk, FILE *, int, const char *, ...);
BY_NAME(int, __vprintf_chk, int, const char *, va_list);
BY_NAME(int, __vfprintf_chk, FILE *, int, const char *, va_list);
BY_NAME(int, dprintf, int, const char *, ...);
BY_NAME(int, vdprintf, int, const char *, va_list);
BY_NAME(int, __dprintf_chk, int, int, const char *, ...);
BY_NAME(int, __vdprintf_chk, int, int, const char *, va_list);
enum { CALLS = 27 };
static int ends[2];
static FILE *buffered;
static char space[65536];
static void let_go(int call) {
  (void)call;
  CHECK(read(ends[0], space, sizeof space) > 0);
}
static void fill(void) {
  CHECK(!fcntl(ends[1], F_SETFL, O_NONBLOCK));
  while (write(ends[1], space, 4096) > 0) {
  }
  CHECK(!fcntl(ends[1], F_SETFL, 0));
}
static int print(int call, ...) {
  va_list arguments;
  va_start(arguments, call);
  int written;
  switch (call) {
    case 15: written = call_vprintf("%s", arguments); break;
    case 16: written = call_vfprintf(stdout, "%s", arguments); break;
    case 19: written = call___vprintf_chk(1, "%s", arguments); break;
    case 20: written = call___vfprintf_chk(stdout, 1, "%s", arguments); break;
    case 22: written = call_vdprintf(1, "%s", arguments); break;
    default: written = call___vdprintf_chk(1, 1, "%s", arguments);
  }
  va_end(arguments);
  return written;
}
static void wait_in(int call) {
  switch (call) {
    case 1: CHECK(call_fputc('x', stdout) == 'x'); break;
    case 2: CHECK(call_putc('x', stdout) == 'x'); break;
    case 3: CHECK(call_putchar('x') == 'x'); break;
    case 4: CHECK(call_fputc_unlocked('x', stdout) == 'x'); break;
    case 5: CHECK(call_putc_unlocked('x', stdout) == 'x'); break;
    case 6: CHECK(call_putchar_unlocked('x') == 'x'); break;
    case 7: CHECK(call_fputs("x", stdout) >= 0); break;
    case 8: CHECK(call_puts("x") >= 0); break;
    case 9: CHECK(call_fwrite("x", 1, 1, stdout) == 1); break;
    case 10: CHECK(call_fputs_unlocked("x", stdout) >= 0); break;
    case 11: CHECK(call_fwrite_unlocked("x", 1, 1, stdout) == 1); break;
    case 12: CHECK(call___overflow(stdout, 'x') == 'x'); break;
    case 13: CHECK(call_printf("%s", "x") == 1); break;
    case 14: CHECK(call_fprintf(stdout, "%s", "x") == 1); break;
    case 17: CHECK(call___printf_chk(1, "%s", "x") == 1); break;
    case 18: CHECK(call___fprintf_chk(stdout, 1, "%s", "x") == 1); break;
    case 21: CHECK(call_dprintf(1, "%s", "x") == 1); break;
    case 23: CHECK(call___dprintf_chk(1, 1, "%s", "x") == 1); break;
    case 25: CHECK(!fflush(buffered)); break;
    case 26: CHECK(!fclose(buffered)); break;
    case 27: CHECK(write(1, "x", 1) == 1); break;
    default: CHECK(print(call, "x") == 1);
  }
  if (call == CALLS) return;
  // What is in a buffer before the pipe is full waits for nobody.
  if (call == 24 || call == 25) CHECK(fputs("x", buffered) >= 0);
  fill();
}
int main(void) {
  CHECK(!pipe(ends) && dup2(ends[1], 1) == 1 && (buffered = fdopen(dup(1), "w")) && !setvbuf(stdout, 0, _IONBF, 0));
  fill();
  take_turns(CALLS, wait_in);
  return 0;
}
