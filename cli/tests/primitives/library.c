// What functions of the C library do to the memory that they are handed, to its last byte.
// case strcpy: 0 | 1
// case strcpy-checked: 0 | 1
// case strcat: 0 | 1
// case strncat: 0 | 1
// case strncpy: 0 | 1
// case strncmp: -1 | 0
// case strndup: a | b
// case strtol: 10 | 15
// case strtok: 0 | 1
// case memcpy-checked: 0 | 1
// case wide: 0 | 1
// covers wide: what is seen
// case sprintf: 0 | 1
// case snprintf: 0 | 1
// case snprintf-checked: 0 | 1
// case vsnprintf: 0 | 1
// covers vsnprintf: what is seen
// case printed: a | b
// case printed-part: a | b
// case scanned: 0 | 1
// case read: 0 | 1
// covers read: what is seen
// case time: 1 | 2
// covers time: what is seen
// case copied: 0 | 1 | 2
// covers copied: what is seen
// case copied-struct: 0 | 1 | 2
// covers copied-struct: what is seen
// case copied-string: 0 | 1 | 2
// covers copied-string: what is seen
// case compared: -1 | 0 | 1
// covers compared: what is seen
// Where something is found is where it stands, not where it was copied to.
// case found-text: 0 | 1
// case found-letter: 1
// case found-bytes: 0 | 1
// case endless: 0 | 1
// covers endless: what is seen
// What else a copying call reads is as it was when it was read, in a handler that copies too.
// case interrupted: 0 | 1 | 2
// covers interrupted: what is seen
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
struct wide { long a, b, c; };
static char text[64], other[64], *rest = text;
static wchar_t letters[16];
static struct wide from, to;
static struct tm day = {.tm_mday = 1};
static int number, ends[2];
static const char *is;
#define IS(name) (!strcmp(is, name))
static void format(char *to, size_t room, const char *form, ...) {
  va_list list;
  va_start(list, form);
  vsnprintf(to, room, form, list);
  va_end(list);
}
static void handle(int signal) {
  char mine[64];
  strcpy(mine, other);
  other[40] = mine[40];
}
static void *beside(void *unused) {
  time_t second_day = 86400;
  if (IS("strcpy")) strcpy(text, "abc");
  if (IS("strcpy-checked")) __builtin___strcpy_chk(text, "abc", 64);
  if (IS("strcat")) strcat(text, "abc");
  if (IS("strncat")) strncat(text, "abc", 3);
  if (IS("strncpy")) strncpy(text, "abc", 3);
  if (IS("strncmp") || IS("strndup") || IS("printed") || IS("printed-part")) text[2] = 'b';
  if (IS("strtol")) text[1] = '5';
  if (IS("strtok")) strtok_r(NULL, ",", &rest);
  if (IS("memcpy-checked")) __builtin___memcpy_chk(text, "abc", (size_t)number + 3, 64);
  if (IS("wide")) wmemcpy(letters, L"abc", 3);
  if (IS("sprintf")) sprintf(text, "%d", 123);
  if (IS("snprintf")) snprintf(text, sizeof text, "%d", 123);
  if (IS("snprintf-checked")) __builtin___snprintf_chk(text, sizeof text, 0, 64, "%d", 123);
  if (IS("vsnprintf")) format(text, sizeof text, "%d", 123);
  if (IS("scanned")) sscanf("7 1", "%*d %d", &number);
  if (IS("read")) read(ends[0], text, sizeof text);
  if (IS("time")) gmtime_r(&second_day, &day);
  if (IS("copied")) text[20] = 1, other[20] = 2;
  if (IS("copied-struct")) from.b = 1, to.b = 2;
  if (IS("copied-string") || IS("interrupted")) text[20] = '1', other[20] = '2';
  if (!strncmp(is, "found", 5)) text[0] = 'x', other[1] = 'z';
  if (IS("endless")) format(text, (size_t)-1, "%d", 123);
  if (IS("compared")) text[20] = 'x', other[20] = 'x';
  return NULL;
}
int main(int argc, char **argv) {
  is = argc > 1 ? argv[1] : "";
  pthread_t t;
  if (IS("strncmp") || IS("strndup") || IS("printed") || IS("printed-part")) strcpy(text, "xya");
  if (IS("strtol")) strcpy(text, "10 ");
  if (IS("strtok")) strcpy(text, "a,b");
  if (IS("read")) pipe(ends), write(ends[1], "abc", 3);
  if (IS("copied-string") || IS("interrupted")) memset(text, '0', 30), memset(other, '0', 30);
  if (IS("compared")) memset(text, 'a', 30), memset(other, 'a', 30);
  if (!strncmp(is, "found", 5)) strcpy(text, "aabb"), strcpy(other, IS("found-letter") ? "b" : "bb");
  if (IS("interrupted")) signal(SIGUSR1, handle);
  pthread_create(&t, NULL, beside, NULL);
  int seen = 0;
  if (strstr(is, "cpy") || strstr(is, "cat") || strstr(is, "printf") || IS("read")) seen = text[2] != 0;
  if (IS("endless")) seen = text[2] != 0;
  if (!strncmp(is, "found", 5)) {
    char *at = IS("found-text") ? strstr(text, other) : IS("found-letter") ? strpbrk(text, other) : memmem(text, 4, other, 2);
    seen = at == NULL ? 0 : at == text + 2 ? 1 : 2;
  }
  if (IS("wide")) seen = letters[2] != 0;
  if (IS("strncmp")) seen = strncmp(text, "xyb", 3) < 0 ? -1 : 0;
  if (IS("strtol")) seen = (int)strtol(text, NULL, 10);
  if (IS("strtok")) seen = rest != text;
  if (IS("scanned")) seen = number;
  if (IS("time")) seen = day.tm_mday;
  if (IS("copied")) memcpy(other, text, sizeof text);
  if (IS("copied-struct")) to = from;
  if (IS("interrupted")) pthread_kill(pthread_self(), SIGUSR1);
  if (IS("copied-string") || IS("interrupted")) strcpy(other, text);
  if (IS("compared")) {
    seen = strcmp(text, other);
    seen = (seen > 0) - (seen < 0);
  }
  if (IS("strndup")) {
    char *copy = strndup(text, 3);
    printf("%c", copy[2]);
    free(copy);
  } else if (IS("printed")) {
    char line[64];
    snprintf(line, sizeof line, "%d %s", 1, text);
    printf("%c", line[4]);
  } else if (IS("printed-part")) {
    char line[64];
    snprintf(line, sizeof line, "%.*s", 3, text);
    printf("%c", line[2]);
  }
  pthread_join(t, NULL);
  if (IS("copied")) seen = other[20];
  if (IS("copied-struct")) seen = (int)to.b;
  if (IS("copied-string") || IS("interrupted")) seen = other[20] - '0';
  if (!IS("strndup") && !IS("printed") && !IS("printed-part")) printf("%d", seen);
  fflush(stdout);
}
