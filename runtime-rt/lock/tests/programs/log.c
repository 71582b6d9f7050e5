// A log with a relative name goes where the process was started, whatever folder it is in at its end; one whose descriptor the program
// closed, and uses for a file of its own, is opened by its name again. Neither takes a low descriptor from the program.
// languages: c c++
// stats: none
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "hooks.h"
static void use_a_lock(void) {
  FRAME;
  ACQUIRE(0, X, 1);
  usleep(1);  // gives up
  RELEASE(0, 1);
}
// Runs itself in `folder` with a log of this name, which must be written; `other` must not.
static void run(char *self, const char *how, const char *folder, const char *log, const char *other) {
  char options[300], said[300];
  snprintf(options, sizeof options, "stats=1:log=%s", log);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    char *again[] = {self, (char *)how, (char *)other, 0};
    CHECK(!chdir(folder) && !setenv("ATOMFIX_OPTIONS", options, 1));
    execv("/proc/self/exe", again);
    abort();
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(!chdir(folder));
  int file = open(log, O_RDONLY);
  ssize_t size = read(file, said, sizeof said - 1);
  CHECK(file >= 0 && size > 0);
  said[size] = 0;
  CHECK(strstr(said, ": sleep 1"));
  CHECK(!close(file) && !unlink(log));
}
int main(int count, char **arguments) {
  if (count == 1) {
    char folder[] = "/tmp/atomfix-log-XXXXXX";
    CHECK(mkdtemp(folder));
    char log[100], other[100];
    struct stat status;
    run(arguments[0], "moves", folder, "log", "unused");
    snprintf(log, sizeof log, "%s/log", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    run(arguments[0], "closes", folder, log, other);
    CHECK(!stat(other, &status) && status.st_size == 0 && !unlink(other) && !chdir("/") && !rmdir(folder));
    return 0;
  }
  use_a_lock();
  int lowest = open("/dev/null", O_RDONLY);
  CHECK(lowest == 3);
  if (!strcmp(arguments[1], "moves")) return chdir("/");
  for (int descriptor = 3; descriptor < 300; descriptor++) close(descriptor);
  int other = open(arguments[2], O_WRONLY | O_CREAT, 0644);
  for (int descriptor = 4; descriptor < 300; descriptor++) CHECK(dup2(other, descriptor) == descriptor);
  return 0;
}
