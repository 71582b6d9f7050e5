// Files in `/proc` by which the program looks at itself, beside other threads or alone.
// case name: pass
// covers name: what is seen
// note name: the program looks at itself in `/proc`
// case memory: pass
// covers memory: what is seen
// note memory: the program looks at itself in `/proc`
// case threads: pass
// covers threads: what is seen
// note threads: the program looks at itself in `/proc`
// case opened-before: pass
// covers opened-before: what is seen
// note opened-before: the program looks at itself in `/proc`
// case alone: pass
// case descriptors: 0 | 1
// case elsewhere: pass
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static const char *is;
static int file, number, seen;
static void use(const char *path) {
  char text[64];
  FILE *stream = fopen(path, "r");
  if (stream && fread(text, 1, 4, stream) < 4) perror("read");
  if (stream) fclose(stream);
}
static void *work(void *unused) {
  number = 1;
  if (!strcmp(is, "descriptors")) dup2(1, 77);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  if (!strcmp(is, "alone")) use("/proc/self/maps");
  if (!strcmp(is, "opened-before")) file = open("/proc/self/mem", O_RDWR);
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "name")) use("/proc/thread-self/comm");
  if (!strcmp(is, "elsewhere")) use("/proc/stat");
  if (!strcmp(is, "threads")) closedir(opendir("/proc/self/task"));
  if (!strcmp(is, "memory")) file = open("/proc/self/mem", O_RDWR);
  if (file) pread(file, &seen, sizeof seen, (off_t)&number);
  char target[64];
  if (!strcmp(is, "descriptors")) seen = readlink("/proc/self/fd/77", target, sizeof target) > 0;
  pthread_join(t, 0);
  if (!strcmp(is, "alone")) use("/proc/self/maps");
  if (!strcmp(is, "descriptors")) printf("%d", seen);
}
