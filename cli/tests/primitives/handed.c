// What functions of the C library do to memory that they are handed, whose names no table has, or that a pointer names.
// case stat: empty | filled
// covers stat: what is seen
// note stat: copies
// case clock: empty | filled
// covers clock: what is seen
// case pointer: empty | filled
// covers pointer: what is seen
// case attributes: 0 | 65536
// covers attributes: what is seen
// case list: empty | filled
// covers list: what is seen
// case readers: both
// case neighbours: both
// case state: 70 | 71
// covers state: what is seen
// note state: `gmtime` answers in memory that threads share
// case get: ab | ba
// case put: ab | ba
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
static struct stat status;
static struct timespec now;
static char text[32], name[16], got[3];
static char *(*volatile copy)(char *, const char *) = strcpy;
static pthread_attr_t attributes;
static FILE *stream;
static int seen[2], ends[2];

static void *fill(void *what) {
  if (!strcmp(what, "stat")) stat("/", &status);
  if (!strcmp(what, "clock")) clock_gettime(CLOCK_REALTIME, &now);
  if (!strcmp(what, "pointer")) copy(text, "abc");
  if (!strcmp(what, "list")) {
    struct iovec parts[2] = {{name, 1}, {text, sizeof text}};
    readv(ends[0], parts, 2);
  }
  if (!strcmp(what, "attributes")) pthread_attr_setstacksize(&attributes, 65536);
  return NULL;
}
static void *find(void *place) {
  char own[16] = "";
  struct timespec mine;
  clock_gettime(CLOCK_REALTIME, &mine);
  *(int *)place = getenv(name) == NULL && strlen(own) == 0;
  return NULL;
}
static struct stat each[2];
static void *own(void *place) {
  struct stat *mine = &each[(int *)place - seen];
  stat("/", mine);
  *(int *)place = mine->st_nlink != 0;
  return NULL;
}
static void *answer(void *seconds) {
  time_t time = *(time_t *)seconds;
  gmtime(&time);
  return NULL;
}
static void *get(void *place) {
  *(char *)place = (char)fgetc(stream);
  return NULL;
}
static void *put(void *letter) {
  fputc(*(char *)letter, stream);
  return NULL;
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "stat";
  pthread_t t, u;
  if (!strcmp(what, "get")) {
    char content[] = "ab";
    stream = fmemopen(content, 2, "r");
    pthread_create(&t, NULL, get, got);
    pthread_create(&u, NULL, get, got + 1);
  } else if (!strcmp(what, "put")) {
    char *content;
    size_t size;
    stream = open_memstream(&content, &size);
    pthread_create(&t, NULL, put, "a");
    pthread_create(&u, NULL, put, "b");
    pthread_join(t, NULL);
    pthread_join(u, NULL);
    fclose(stream);
    memcpy(got, content, 2);
    puts(got);
    return 0;
  } else if (!strcmp(what, "neighbours")) {
    pthread_create(&t, NULL, own, seen);
    pthread_create(&u, NULL, own, seen + 1);
  } else if (!strcmp(what, "state")) {
    time_t first = 0, second = 366 * 86400;
    pthread_create(&t, NULL, answer, &second);
    struct tm *found = gmtime(&first);
    pthread_join(t, NULL);
    printf("%d", found->tm_year);
    return 0;
  } else if (!strcmp(what, "readers")) {
    strcpy(name, "NOBODY_SETS_IT");
    pthread_create(&t, NULL, find, seen);
    pthread_create(&u, NULL, find, seen + 1);
  } else {
    pthread_attr_init(&attributes);
    size_t before = 0;
    if (!strcmp(what, "list") && (pipe(ends) || write(ends[1], "abcdefghijklm", 13) != 13)) abort();
    pthread_create(&t, NULL, fill, (void *)what);
    int is_filled = status.st_nlink != 0 || now.tv_sec != 0 || text[0] != 0;
    if (!strcmp(what, "attributes")) pthread_attr_getstacksize(&attributes, &before);
    pthread_join(t, NULL);
    if (!strcmp(what, "attributes"))
      printf("%d", before == 65536 ? 65536 : 0);
    else
      printf(is_filled ? "filled" : "empty");
    return 0;
  }
  pthread_join(t, NULL);
  pthread_join(u, NULL);
  printf("%s", seen[0] && seen[1] ? "both" : got);
}
