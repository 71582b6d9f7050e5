// The state of a random program, and how its outcome is printed.
#define _GNU_SOURCE
#include "state.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

long variables[VARIABLES];
long registers[BODIES][REGISTERS];
pthread_t threads[BODIES];
int lengths[BODIES];
struct operation operations[BODIES][LONGEST];

int ends[PIPES][2], tries[PIPES];

static int exists[BODIES];
static int count = 1;
static int going_on = 1;
static int printed;

static long number(const char **text) {
  char *end;
  long value = strtol(*text, &end, 10);
  if (end == *text) _exit(2);
  *text = end;
  return value;
}

void load(const char *text) {
  for (count = 0; count < BODIES && *text; count++) {
    lengths[count] = (int)number(&text);
    if (lengths[count] > LONGEST) _exit(2);
    for (int at = 0; at < lengths[count]; at++) {
      struct operation *operation = &operations[count][at];
      operation->kind = (int)number(&text);
      operation->a = number(&text);
      operation->b = number(&text);
      operation->c = number(&text);
      operation->d = number(&text);
    }
  }
}

static void print(void) {
  char line[512];
  int length = snprintf(line, sizeof line, "%ld %ld", variables[0], variables[1]);
  for (int body = 0; body < BODIES; body++)
    if (exists[body]) length += snprintf(line + length, sizeof line - (size_t)length, " | %d: %ld %ld", body, registers[body][0], registers[body][1]);
  line[length++] = '\n';
  if (!printed++ && write(1, line, (size_t)length) != length) _exit(3);
}

void exited(long first, long second) {
  char line[64];
  int length = snprintf(line, sizeof line, "exit %ld %ld\n", first, second);
  if (!printed++ && write(1, line, (size_t)length) != length) _exit(3);
}

void open_pipes(void) {
  for (int at = 0; at < PIPES; at++) {
    char name[32];
    if (pipe(ends[at]) || fcntl(ends[at][1], F_SETPIPE_SZ, (at + 1) * PAGE) != (at + 1) * PAGE) _exit(4);
    snprintf(name, sizeof name, "/proc/self/fd/%d", ends[at][0]);
    tries[at] = open(name, O_RDONLY | O_NONBLOCK);
    if (tries[at] < 0) _exit(4);
  }
}

void begin(void) {
  exists[0] = 1;
  threads[0] = pthread_self();
}

void created(int body) {
  exists[body] = 1;
  going_on++;
}

void ended(int body) {
  (void)body;
  if (--going_on == 0) print();
}

void __assert_fail(const char *, const char *, unsigned, const char *) __attribute__((noreturn));

_Noreturn void failed(int body, int at) {
  char what[64];
  snprintf(what, sizeof what, "%d %d", body, at);
  __assert_fail(what, "program", 1, "run");
}
