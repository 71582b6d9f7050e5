// Taking memory away, protecting it or replacing it is a write to all of it.
// case unmap: pass | signal SIGSEGV
// case protect: pass | signal SIGSEGV
// case forget: 0 | 1
// case replace: 0 | 1
// case move: pass | signal SIGSEGV
// case nothing: pass
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
static char *page;
static const char *is;
static void *change(void *unused) {
  if (!strcmp(is, "unmap")) munmap(page, 4096);
  if (!strcmp(is, "protect")) mprotect(page, 4096, PROT_NONE);
  if (!strcmp(is, "nothing")) munmap(page, 0);
  if (!strcmp(is, "forget")) madvise(page, 4096, MADV_DONTNEED);
  if (!strcmp(is, "replace")) mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (!strcmp(is, "move")) mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, page + 4096);
  return unused;
}
int main(int count, char **arguments) {
  is = arguments[count - 1];
  page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page[1] = 1;
  pthread_t t;
  pthread_create(&t, NULL, change, NULL);
  int seen = page[1];
  pthread_join(t, NULL);
  if (!strcmp(is, "forget") || !strcmp(is, "replace")) printf("%d", seen);
}
