// Calls whose answer depends on what others do with the descriptor, or with addresses, though they change nothing that others see.
// case sync: 0 | -1
// case map: -1 | 0
// case place: 0 | 1
// case terminal: 0 | 1
// case size: 0 | 5
// case break: 0 | 1
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#define PLACE ((void *)0x7000000000)
static const char *is;
static int file, seen;
static long end;
static void *work(void *unused) {
  if (!strcmp(is, "place")) mmap(PLACE, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  else if (!strcmp(is, "size")) ftruncate(file, 5);
  else if (!strcmp(is, "break")) syscall(SYS_brk, end + 4096);
  else close(file);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  struct stat status;
  file = !strcmp(is, "terminal") ? posix_openpt(O_RDWR) : memfd_create("file", 0);
  if (!strcmp(is, "map")) ftruncate(file, 4096);
  end = syscall(SYS_brk, 0);
  pthread_create(&t, 0, work, 0);
  if (!strcmp(is, "sync")) seen = fsync(file);
  if (!strcmp(is, "map")) seen = mmap(0, 4096, PROT_READ, MAP_PRIVATE, file, 0) == MAP_FAILED ? -1 : 0;
  if (!strcmp(is, "place")) seen = mmap(PLACE, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == PLACE;
  if (!strcmp(is, "terminal")) seen = isatty(file);
  if (!strcmp(is, "size")) syscall(SYS_fstat, file, &status), seen = status.st_size;
  if (!strcmp(is, "break")) seen = syscall(SYS_brk, 0) != end;
  pthread_join(t, 0);
  printf("%d", seen);
}
