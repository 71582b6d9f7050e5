// Wide texts and formats, and texts whose length nothing tells before they are there.
// case printed: abc | aXc
// covers printed: what is seen
// case narrow: abc | aXc
// covers narrow: what is seen
// case list: abc | aXc
// covers list: what is seen
// case wide-from-narrow: abc | aXc
// covers wide-from-narrow: what is seen
// case wide-number: 0 | 5
// case long-copy: abc | aXc
// case scan: 0 | 1
// covers scan: what is seen
// case scan-set: 0 | 1
// covers scan-set: what is seen
// case scan-variable: 0 | 1
// covers scan-variable: what is seen
// case scan-narrow-wide: 0 | 1
// case scan-wide: 0 | 7
// case scan-wide-list: 0 | 7
// case scan-apart: both
// case cut: 0 | 1
// case line: 0 | 1
// case converted: abc | aXc
#define _GNU_SOURCE
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#define LONG 40
static const char *is;
static wchar_t wide[64], found[64];
static wchar_t *volatile place = wide;
static char text[64], narrow[64], *line;
static char *volatile words = text;
static const char *volatile scanned = "%s";
static int number, seen;
static size_t room = 64;
static FILE *stream;
static struct { char first[16], second[16]; } apart;
static int like(const char *what) { return !strcmp(is, what); }
static void print(const wchar_t *format, ...) {
  va_list list;
  va_start(list, format);
  vswprintf(found, 64, format, list);
  va_end(list);
}
static void scan(const wchar_t *format, ...) {
  va_list list;
  va_start(list, format);
  vswscanf(L"7", format, list);
  va_end(list);
}
static void *work(void *unused) {
  if (like("printed") || like("narrow") || like("list") || like("long-copy")) wide[LONG] = L'X';
  if (like("wide-from-narrow") || like("converted")) text[LONG] = 'X';
  if (like("wide-number")) swprintf(found, 64, L"12345%n", &number);
  if (like("scan")) sscanf("abcdef", "%s", text);
  if (like("scan-set")) sscanf("abcdef", "%[a-z]", text);
  if (like("scan-variable")) sscanf("abcdef", scanned, text);
  if (like("scan-narrow-wide")) sscanf("abcdef", "%ls", wide);
  if (like("scan-wide")) swscanf(L"7", L"%d", &number);
  if (like("scan-wide-list")) scan(L"%d", &number);
  if (like("scan-apart")) sscanf("abc", "%s", apart.first);
  if (like("cut")) {
    char *rest = words;
    strsep(&rest, " ");
  }
  if (like("line")) getline(&line, &room, stream);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  if (like("scan-narrow-wide") || !strncmp(is, "scan", 4)) wmemset(wide, 0, 64);
  else wmemset(wide, L'a', LONG), wide[LONG] = L'b', wide[LONG + 1] = 0;
  if (strncmp(is, "scan", 4)) memset(text, 'a', LONG), text[LONG] = like("cut") ? ' ' : 'b';
  if (like("line")) line = calloc(1, room), stream = fmemopen(text, LONG, "r");
  pthread_create(&t, 0, work, 0);
  if (like("printed")) swprintf(found, 64, L"%ls", place);
  if (like("narrow")) snprintf(narrow, 64, "%ls", place);
  if (like("list")) print(L"%ls", place);
  if (like("wide-from-narrow")) swprintf(found, 64, L"%s", text);
  if (like("long-copy")) wcscpy(found, place);
  if (like("converted")) {
    const char *from = text;
    mbsrtowcs(found, &from, 64, 0);
  }
  if (like("scan") || like("scan-set") || like("scan-variable")) seen = text[4] != 0;
  if (like("scan-narrow-wide")) seen = wide[4] != 0;
  if (like("wide-number") || like("scan-wide") || like("scan-wide-list")) seen = number;
  if (like("scan-apart")) sscanf("abc", "%s", apart.second);
  if (like("cut")) seen = text[LONG] == 0;
  if (like("line")) seen = line[LONG - 10] == 'a';
  pthread_join(t, 0);
  if (like("narrow")) seen = narrow[LONG];
  else if (found[LONG]) seen = (int)found[LONG];
  if (like("scan-apart")) puts(strcmp(apart.first, apart.second) ? "one" : "both");
  else puts(seen == 'X' ? "aXc" : seen == 'b' ? "abc" : seen == 7 ? "7" : seen == 5 ? "5" : seen ? "1" : "0");
}
