// What functions of the C library keep for themselves, in streams of the process or elsewhere, and what they find by more than one pointer.
// case environment: unset | set
// case readers: both
// case random: same
// covers random: what is seen
// note random: who draws first is not explored
// case answers: 70 | 71
// covers answers: what is seen
// note answers: `gmtime` answers in memory that threads share
// case locale: done
// covers locale: what is seen
// note locale: `setlocale` tells what other functions do, which is not seen
// case alone: done
// case input: ab | ba
// case output: ab | ba
// case printing: aa
// case tree: 0 | 1
// covers tree: what is seen
// note tree: `tsearch`
// case buffer: empty | filled
// covers buffer: what is seen
// note buffer: copies
// case memory: 0 | 1
// covers memory: what is seen
// note memory: copies
// case text: 0 | 4
// case same: 55
#define _GNU_SOURCE
#include <locale.h>
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static int seen[2], ends[2];
static char got[3], buffer[256], key[] = "key", *content;
static size_t size;
static void *tree;
static FILE *file;

static int compare(const void *a, const void *b) { return strcmp(a, b); }
static int until(char wanted) {
  FILE *own = fmemopen("aaaaab", 6, "r");
  int before = 0;
  while (fgetc(own) != wanted) before++;
  fclose(own);
  return before;
}
static void *act(void *what) {
  time_t second = 366 * 86400;
  if (!strcmp(what, "environment")) setenv("NOBODY_SETS_IT", "1", 1);
  if (!strcmp(what, "readers")) seen[0] = getenv("NOBODY_SETS_IT") == NULL;
  if (!strcmp(what, "random")) srand(7);
  if (!strcmp(what, "answers")) ctime(&second);
  if (!strcmp(what, "locale")) setlocale(LC_ALL, "C");
  if (!strcmp(what, "input")) got[0] = (char)getchar();
  if (!strcmp(what, "output")) putchar('a');
  if (!strcmp(what, "printing")) putchar('a');
  if (!strcmp(what, "tree")) tsearch(key, &tree, compare);
  if (!strcmp(what, "buffer")) fputs("text", file);
  if (!strcmp(what, "memory") || !strcmp(what, "text")) fputs("text", file), fflush(file);
  if (!strcmp(what, "same")) seen[0] = until('b');
  return NULL;
}

int main(int count, char **words) {
  char *what = count > 1 ? words[1] : "environment";
  pthread_t t;
  int first = 0, found = 0;
  time_t none = 0;
  if (!strcmp(what, "alone")) setlocale(LC_ALL, "C");
  if (!strcmp(what, "random")) {
    srand(1);
    first = rand();
    srand(1);
  }
  if (!strcmp(what, "input") && (pipe(ends) || write(ends[1], "ab", 2) != 2 || dup2(ends[0], 0) != 0)) abort();
  if (!strcmp(what, "output") && (pipe(ends) || dup2(ends[1], 1) != 1)) abort();
  if (!strcmp(what, "buffer")) setvbuf(file = tmpfile(), buffer, _IOFBF, sizeof buffer);
  if (!strcmp(what, "memory")) file = fmemopen(buffer, sizeof buffer, "w");
  if (!strcmp(what, "text")) file = open_memstream(&content, &size);
  pthread_create(&t, NULL, act, what);
  if (!strcmp(what, "environment")) found = getenv("NOBODY_SETS_IT") != NULL;
  if (!strcmp(what, "readers")) seen[1] = getenv("NOBODY_SETS_IT") == NULL;
  if (!strcmp(what, "random")) found = rand() == first;
  struct tm *year = !strcmp(what, "answers") ? gmtime(&none) : NULL;
  if (!strcmp(what, "input")) got[1] = (char)getchar();
  if (!strcmp(what, "output")) putchar('b');
  if (!strcmp(what, "printing")) putchar('a');
  if (!strcmp(what, "tree")) found = tfind(key, &tree, compare) != NULL;
  if (!strcmp(what, "buffer") || !strcmp(what, "memory")) found = buffer[0] != 0;
  if (!strcmp(what, "text")) found = (int)size;
  if (!strcmp(what, "same")) seen[1] = until('b');
  pthread_join(t, NULL);
  if (!strcmp(what, "output")) {
    fflush(stdout);
    found = read(ends[0], got, 2) == 2;
  }
  FILE *out = fdopen(2, "w");
  if (!strcmp(what, "environment")) fputs(found ? "set" : "unset", out);
  if (!strcmp(what, "readers")) fputs(seen[0] && seen[1] ? "both" : "one", out);
  if (!strcmp(what, "random")) fputs(found ? "same" : "other", out);
  if (year) fprintf(out, "%d", year->tm_year);
  if (!strcmp(what, "locale") || !strcmp(what, "alone")) fputs("done", out);
  if (!strcmp(what, "input") || !strcmp(what, "output")) fputs(got, out);
  if (!strcmp(what, "tree") || !strcmp(what, "memory") || !strcmp(what, "text")) fprintf(out, "%d", found);
  if (!strcmp(what, "same")) fprintf(out, "%d%d", seen[0], seen[1]);
  if (!strcmp(what, "buffer")) fputs(found ? "filled" : "empty", out);
  fflush(out);
}
