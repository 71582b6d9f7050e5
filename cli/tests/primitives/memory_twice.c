// Memory that the program has at two addresses, or that is a file which it also reads and writes by calls.
// case once: 0 | 1
// case looked-at: pass
// case file: pass
// case segment: pass
// case moved: pass
// case written: pass
// case read: pass
// case cut: pass
// case alone: 0 | 1
// case writable: pass
// case at-once: 0 | 1
// case copied: pass
// case opened: pass
// case reached: pass
// case left: pass
// note writable: the program has one memory at two addresses
// covers writable: what is seen
// note copied: the program has one memory at two addresses
// covers copied: what is seen
// note opened: the program has one memory at two addresses
// covers opened: what is seen
// note reached: the program has one memory at two addresses
// covers reached: what is seen
// note left: the program has one memory at two addresses
// covers left: what is seen
// note file: the program has one memory at two addresses
// covers file: what is seen
// note segment: the program has one memory at two addresses
// covers segment: what is seen
// note moved: the program has one memory at two addresses
// covers moved: what is seen
// note written: the program has one memory at two addresses
// covers written: what is seen
// note read: the program has one memory at two addresses
// covers read: what is seen
// note cut: the program has one memory at two addresses
// covers cut: what is seen
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/uio.h>
#include <unistd.h>
static volatile char *first, *second;
static int file, from, segment, ends[2];
static char path[64];
static const char *is;
static void *change(void *unused) {
  if (!strcmp(is, "written")) pwrite(file, "\1", 1, 0);
  else if (!strcmp(is, "copied")) copy_file_range(from, 0, file, 0, 1, 0);
  else if (!strcmp(is, "opened")) close(open(path, O_RDWR | O_TRUNC));
  else if (!strcmp(is, "reached")) {
    struct iovec new = {"\1", 1}, old = {(void *)first, 1};
    process_vm_writev(getpid(), &new, 1, &old, 1, 0);
  } else if (!strcmp(is, "cut")) ftruncate(file, 8192);
  else if (strcmp(is, "looked-at")) *first = 1;
  return unused;
}
static char *map(int protection) { return mmap(0, 4096, protection, MAP_SHARED, file, 0); }
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  file = memfd_create("file", 0);
  ftruncate(file, 4096);
  sprintf(path, "/proc/self/fd/%d", file);
  from = memfd_create("from", 0);
  write(from, "\1", 1);
  first = map(PROT_READ | PROT_WRITE);
  if (!strcmp(is, "file")) second = map(PROT_READ);
  if (!strcmp(is, "segment")) {
    segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    first = shmat(segment, 0, 0);
    second = shmat(segment, 0, SHM_RDONLY);
    shmctl(segment, IPC_RMID, 0);
  }
  if (!strcmp(is, "moved")) second = mremap((void *)first, 0, 4096, MREMAP_MAYMOVE);
  if (!strcmp(is, "writable")) {
    munmap((void *)first, 4096);
    first = map(PROT_READ), second = map(PROT_READ);
    mprotect((void *)first, 4096, PROT_READ | PROT_WRITE);
  }
  if (!strcmp(is, "left")) {
    struct iovec part = {(void *)first, 4096};
    pipe(ends);
    vmsplice(ends[1], &part, 1, 0);
  }
  if (!strcmp(is, "at-once")) {
    munmap((void *)first, 4096);
    first = map(PROT_READ);
    mprotect((void *)first, 4096, PROT_READ | PROT_WRITE);
  }
  if (!strcmp(is, "once") || !strcmp(is, "at-once") || !strcmp(is, "copied") || !strcmp(is, "opened") || !strcmp(is, "reached")) second = first;
  if (!strcmp(is, "alone")) pwrite(file, "", 1, 0), second = first;
  if (!strcmp(is, "cut")) second = first;
  if (!strcmp(is, "looked-at")) {
    munmap((void *)first, 4096);
    first = map(PROT_READ), second = map(PROT_READ);
  }
  pthread_create(&t, 0, change, 0);
  char seen = 0;
  if (!strcmp(is, "read")) pread(file, &seen, 1, 0);
  else if (!strcmp(is, "opened")) seen = 0;
  else if (!strcmp(is, "left")) read(ends[0], &seen, 1);
  else if (!strcmp(is, "written")) seen = *first;
  else seen = *second;
  pthread_join(t, 0);
  // Of the others, not all that may be seen is.
  if (!strcmp(is, "once") || !strcmp(is, "alone") || !strcmp(is, "at-once")) printf("%d", seen);
}
