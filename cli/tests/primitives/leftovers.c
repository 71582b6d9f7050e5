// What executions make without a key, and leave when they end, is gone before the next one.
// case left: 1 1 1
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <unistd.h>
static int shared;
static void *add(void *unused) {
  shared++;
  return unused;
}
// How many lines of a list hold this word in this column: it is as no other program's.
static int count(const char *path, int column, const char *word) {
  char text[1 << 16];
  FILE *list = fopen(path, "r");
  int found = 0;
  while (fgets(text, sizeof text, list)) {
    char *rest = text, *field = 0;
    for (int i = 0; i <= column; i++) field = strtok_r(i ? 0 : text, " ", &rest);
    found += field && !strcmp(field, word);
  }
  fclose(list);
  return found;
}
int main(void) {
  pthread_t t;
  msgget(IPC_PRIVATE, 0421);
  semget(IPC_PRIVATE, 37, 0600);
  shmget(IPC_PRIVATE, 4711, 0600);
  pthread_create(&t, 0, add, 0);
  shared++;
  pthread_join(t, 0);
  printf("%d %d %d", count("/proc/sysvipc/msg", 2, "421"), count("/proc/sysvipc/sem", 3, "37"), count("/proc/sysvipc/shm", 3, "4711"));
}
