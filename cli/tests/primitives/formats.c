// What `printf` and `scanf` read and write by formats that are known only as the call is made, by a `va_list`, by numbered arguments, and no
// further than a precision goes.
// case constant: abc | aXc
// case precise: abc | aXc
// case short: abc
// case numbered: abc | aXc
// case variable: abc | aXc
// case list: abc | aXc
// case later: abc | aXc
// case behind: abc | aXc
// case scan: 0 | 7
// case scan-list: 0 | 7
// case integers: 1 2
// case warned: abc
// options warned: --races
#include <err.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char text[] = "abc", got[64];
static int number;
static const char *volatile plain = "%s", *volatile decimal = "%d", *volatile two = "%d %d";

static void say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(got, sizeof got, format, list);
  va_end(list);
}
static void find(const char *from, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsscanf(from, format, list);
  va_end(list);
}
static void *act(void *what) {
  if (!strncmp(what, "scan", 4)) {
    if (!strcmp(what, "scan")) sscanf("7", decimal, &number);
    if (!strcmp(what, "scan-list")) find("7", "%d", &number);
  } else if (!strcmp(what, "warned")) {
    warnx("%s", text);
  } else {
    text[1] = 'X';
  }
  return NULL;
}

int main(int count, char **words) {
  char *what = count > 1 ? words[1] : "constant", own[2] = "";
  pthread_t t;
  // What is printed there would be a part of the outcome.
  if (!strcmp(what, "warned")) close(2);
  pthread_create(&t, NULL, act, what);
  int found = 0;
  if (!strcmp(what, "constant") || !strcmp(what, "warned")) snprintf(got, sizeof got, "%s", text);
  if (!strcmp(what, "precise")) snprintf(got, sizeof got, "%.3s", text);
  if (!strcmp(what, "short")) snprintf(got, sizeof got, "%.1sbc", text);
  if (!strcmp(what, "numbered")) snprintf(got, sizeof got, "%2$s%1$.0d", 0, text);
  if (!strcmp(what, "variable")) snprintf(got, sizeof got, plain, text);
  if (!strcmp(what, "list")) say("%s", text);
  if (!strcmp(what, "later")) say("%.0f%s%.0d%.0d%.0d%.0d%.0d%s", 1.0, own, 0, 0, 0, 0, 0, text);
  if (!strcmp(what, "behind")) say("%Lf%.*s", 1.0L, 3, text);
  if (!strncmp(what, "scan", 4)) found = number;
  if (!strcmp(what, "integers")) say(two, 1, 2);
  pthread_join(t, NULL);
  if (!strncmp(what, "scan", 4)) printf("%d", found);
  if (!strcmp(what, "later")) memmove(got, got + 1, strlen(got));
  if (!strcmp(what, "behind")) memmove(got, strchr(got, 'a'), 4);
  printf("%s", got);
}
