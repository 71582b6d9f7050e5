// Threads that look at what others change through the kernel: files by name, and what the process has only once.
// case access: 0 | 1
// case status: 0 | 1
// case link: 0 | 1
// case folder: 0 | 1
// case mask: 0 | 7
// case flags: 0 | 1
// case kept-open: 0 | 1
// case lock: 0 | 1
// case limit: 0 | 1
// case option: 0 | 1
// case size: 0 | 1
// case size-of-stream: 0
// case length: 0 | 1
// case mode: 0 | 1
// case room: 0 | 1
// case time: 0 | 1
// case watch: 0 | 1
// case bound: 0 | 1
// case group: 0 | 1
// case dump: 0 | 1
// case segment: 0 | 1
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
static char folder[] = "filesXXXXXX", file[32];
static const char *is;
static int descriptor, segment, watch, locked[2];
static void *change(void *unused) {
  int one = 1;
  struct flock lock = {.l_type = F_WRLCK};
  struct rlimit limit = {64, 64};
  if (!strcmp(is, "access") || !strcmp(is, "status")) close(creat(file, 0600));
  if (!strcmp(is, "link")) symlink("/", file);
  if (!strcmp(is, "folder")) chdir("/");
  if (!strcmp(is, "mask")) umask(7);
  if (!strcmp(is, "flags")) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  if (!strcmp(is, "kept-open")) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  if (!strcmp(is, "lock")) fcntl(locked[1], F_OFD_SETLK, &lock);
  if (!strcmp(is, "limit")) setrlimit(RLIMIT_NOFILE, &limit);
  if (!strcmp(is, "option")) setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
  if (!strcmp(is, "size") || !strcmp(is, "size-of-stream")) ftruncate(locked[0], 9);
  if (!strcmp(is, "length")) fallocate(locked[0], 0, 0, 9);
  if (!strcmp(is, "mode")) fchmod(locked[0], 0400);
  if (!strcmp(is, "room")) fallocate(locked[0], FALLOC_FL_KEEP_SIZE, 0, 9);
  if (!strcmp(is, "time")) futimens(locked[0], (struct timespec[2]){{7, 0}, {7, 0}});
  if (!strcmp(is, "watch")) close(creat(file, 0600));
  if (!strcmp(is, "bound")) bind(descriptor, (struct sockaddr *)&(struct sockaddr_un){AF_UNIX}, sizeof(sa_family_t));
  if (!strcmp(is, "group")) setpgid(0, 0);
  if (!strcmp(is, "dump")) prctl(PR_SET_DUMPABLE, 0);
  if (!strcmp(is, "segment")) shmctl(segment, IPC_RMID, NULL);
  return unused;
}
static int look(void) {
  struct stat status;
  char text[4096] = "";
  int option = 0;
  struct flock lock = {.l_type = F_WRLCK};
  struct rlimit limit;
  socklen_t length = sizeof option;
  if (!strcmp(is, "access")) return access(file, F_OK) == 0;
  if (!strcmp(is, "status")) return stat(file, &status) == 0;
  if (!strcmp(is, "link")) return readlink(file, text, sizeof text) > 0;
  if (!strcmp(is, "folder")) return getcwd(text, sizeof text) && !strcmp(text, "/");
  if (!strcmp(is, "mask")) return umask(0);
  if (!strcmp(is, "flags")) return (fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0;
  if (!strcmp(is, "kept-open")) return fcntl(descriptor, F_GETFD);
  if (!strcmp(is, "lock")) return fcntl(locked[0], F_OFD_GETLK, &lock) == 0 && lock.l_type == F_WRLCK;
  if (!strcmp(is, "limit")) return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur == 64;
  if (!strcmp(is, "size")) return fstat(locked[1], &status) == 0 && status.st_size == 9;
  if (!strcmp(is, "size-of-stream")) return fclose(fdopen(dup(locked[1]), "r"));
  if (!strcmp(is, "length")) return lseek(locked[1], 0, SEEK_END) == 9;
  if (!strcmp(is, "mode")) return fstatat(locked[1], "", &status, AT_EMPTY_PATH) == 0 && (status.st_mode & 0777) == 0400;
  if (!strcmp(is, "room")) return fstat(locked[1], &status) == 0 && status.st_blocks > 0;
  if (!strcmp(is, "time")) return fstat(locked[1], &status) == 0 && status.st_mtime == 7;
  if (!strcmp(is, "watch")) return inotify_add_watch(watch, folder, IN_CREATE), 0;
  if (!strcmp(is, "bound")) return length = sizeof text, getsockname(descriptor, (struct sockaddr *)text, &length) == 0 && length > 2;
  if (!strcmp(is, "group")) return getpgrp() == getpid();
  if (!strcmp(is, "dump")) return !prctl(PR_GET_DUMPABLE);
  if (!strcmp(is, "segment")) return shmat(segment, NULL, 0) == (void *)-1;
  getsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &option, &length);
  return option != 0;
}
int main(int argc, char **argv) {
  pthread_t t;
  is = argc > 1 ? argv[1] : "";
  umask(0);
  watch = inotify_init1(IN_NONBLOCK);
  segment = shmget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  descriptor = socket(AF_UNIX, SOCK_STREAM, 0);
  snprintf(file, sizeof file, "%s/a", mkdtemp(folder));
  char name[32];
  snprintf(name, sizeof name, "%s/b", folder);
  // Two openings of one file.
  for (int i = 0; i < 2; i++) locked[i] = open(name, O_RDWR | O_CREAT, 0600);
  unlink(name);
  int before = open(".", O_PATH);
  pthread_create(&t, NULL, change, NULL);
  int seen = look();
  pthread_join(t, NULL);
  if (!strcmp(is, "watch")) seen = read(watch, name, sizeof name) > 0;
  shmctl(segment, IPC_RMID, NULL);
  fchdir(before);
  unlink(file);
  rmdir(folder);
  printf("%d", seen);
  fflush(stdout);
}
