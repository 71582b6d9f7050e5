// More of what the C library keeps: the zone of time, libraries, what runs at the end, and variables that show what functions keep.
// case zone: 0 | 3
// case zone-safe: 0 | 3
// case zone-variable: 0 | 1
// case made: 0 | 1
// case environ: 0 | 1
// case option: 1 | 2
// covers option: what is seen
// case errors: 0 | 1
// case library: 0 | 1
// case symbol: 0 | 1
// case end: ab | ba
// case heap: done
// covers heap: what is seen
// note heap: `mallinfo2` tells of a heap that is not the one in use
// case heap-alone: done
// case heap-full: 1
// covers heap-full: what is seen
// note heap-full: memory: an allocation failed
// case domain: 0 | 1
// case log: 1 | 255
// case break: 0 | 1
// case defaults: 0 | 1
// case concurrency: 0 | 3
// case name: 0 | 1
// covers name: what is seen
// case clock: 0 | 1
// case mask: 0 | 1
// covers mask: what is seen
#define _GNU_SOURCE
#include <dlfcn.h>
#include <error.h>
#include <fcntl.h>
#include <libintl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static const char *is;
static int seen;
static void *end;
static char name[16];
static clockid_t processor;
static sigset_t mask;
static int like(const char *what) { return !strcmp(is, what); }
static void a(void) { write(1, "a", 1); }
static void b(void) { write(1, "b", 1); }
static void *work(void *unused) {
  pthread_attr_t attributes;
  if (like("zone") || like("made")) setenv("TZ", "AAA-3", 1);
  if (like("zone-safe")) setenv("TZ", "AAA-3", 1), tzset();
  if (like("zone-variable")) tzset();
  if (like("environ")) setenv("NOBODY_SETS_IT", "1", 1);
  if (like("option")) getopt(2, (char *[]){"app", "-x", 0}, "x");
  if (like("errors")) dup2(open("/dev/null", 1), 2), error(0, 0, "it");
  if (like("library")) dlopen("libutil.so.1", RTLD_NOW);
  if (like("symbol")) dlopen("libcrypt.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (like("end")) atexit(a);
  if (like("heap")) free(malloc(10));
  if (like("domain")) textdomain("own");
  if (like("log")) setlogmask(1);
  if (like("break")) sbrk(4096);
  if (like("defaults")) pthread_attr_init(&attributes), pthread_attr_setstacksize(&attributes, 1 << 17), pthread_setattr_default_np(&attributes);
  if (like("concurrency")) pthread_setconcurrency(3);
  if (like("name")) pthread_getname_np(pthread_self(), name, sizeof name);
  if (like("clock")) pthread_getcpuclockid(pthread_self(), &processor);
  if (like("mask")) pthread_sigmask(SIG_BLOCK, 0, &mask);
  return unused;
}
int main(int count, char **arguments) {
  is = count > 1 ? arguments[1] : "";
  pthread_t t;
  pthread_attr_t attributes;
  time_t none = 0;
  size_t size = 0;
  struct tm parts, day = {.tm_year = 70, .tm_mday = 2};
  setenv("TZ", like("zone-variable") ? "AAA-3" : "UTC0", 1);
  if (like("zone-safe")) tzset();
  if (like("break")) end = sbrk(0);
  if (like("heap-alone")) mallinfo2();
  if (like("mask")) sigfillset(&mask);
  pthread_create(&t, 0, work, 0);
  if (like("zone")) seen = localtime(&none)->tm_hour;
  if (like("zone-safe")) seen = localtime_r(&none, &parts)->tm_hour;
  if (like("zone-variable")) seen = timezone != 0;
  if (like("made")) seen = mktime(&day) != 86400;
  if (like("environ")) seen = environ[0] && !strncmp(environ[0], "NOBODY", 6);
  if (like("environ"))
    for (char **at = environ; *at; at++) seen |= !strncmp(*at, "NOBODY", 6);
  if (like("option")) seen = optind;
  if (like("errors")) seen = error_message_count;
  if (like("library")) seen = dlopen("libutil.so.1", RTLD_NOW | RTLD_NOLOAD) != 0;
  if (like("symbol")) seen = dlsym(RTLD_DEFAULT, "crypt_r") != 0;
  if (like("end")) atexit(b);
  if (like("heap")) mallinfo2();
  if (like("domain")) seen = !strcmp(textdomain(0), "own");
  if (like("log")) seen = setlogmask(0);
  if (like("break")) seen = sbrk(0) != end;
  if (like("defaults")) pthread_getattr_default_np(&attributes), pthread_attr_getstacksize(&attributes, &size), seen = size == 1 << 17;
  if (like("concurrency")) seen = pthread_getconcurrency();
  if (like("name")) seen = name[0] != 0;
  if (like("clock")) seen = processor != 0;
  if (like("heap-full")) {
    void *volatile block = malloc((size_t)1 << 33);
    seen = !block;
  }
  if (like("mask")) seen = !sigismember(&mask, SIGUSR1);
  pthread_join(t, 0);
  if (like("end")) return 0;
  if (like("heap") || like("heap-alone")) puts("done");
  else printf("%d", seen);
}
