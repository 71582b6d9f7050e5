// What injection puts into a program (the table of locks, calls of the hooks; a frame is the address of a local), and a few helpers.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif
typedef struct {
  unsigned char bytes[64];
} atomfix_lock __attribute__((aligned(64)));
extern atomfix_lock __atomfix_locks[];
void __atomfix_acquire(void *lock, uint32_t mode, uint32_t label, void *frame);
void __atomfix_release(void *lock, uint32_t label, void *frame);
void __atomfix_degrade(void *lock, uint32_t label, void *frame);
void __atomfix_degrade_to_update(void *lock, uint32_t label, void *frame);
uint64_t __atomfix_glance(void *lock);
void __atomfix_unwind(void *frame);
#ifdef __cplusplus
}
#endif

enum { R = 1, U = 2, X = 3 };
#define LOCK(n) (&__atomfix_locks[n])
#define FRAME \
  volatile char frame_marker = 0; \
  void *frame = (void *)&frame_marker
#define ACQUIRE(n, mode, label) __atomfix_acquire(LOCK(n), mode, label, frame)
#define RELEASE(n, label) __atomfix_release(LOCK(n), label, frame)
#define DEGRADE(n, label) __atomfix_degrade(LOCK(n), label, frame)

// Unlike assert, in force in every build.
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)

static inline double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

// Sleeps behind the archive's back, so that no hold is given up: the thread counts as descheduled.
static inline void doze(int milliseconds) {
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
  syscall(SYS_nanosleep, &time, 0);
}

// Waits for a flag in the same way.
static inline void await(volatile int *flag) {
  while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE)) doze(1);
}

static inline void raise_flag(volatile int *flag) { __atomic_store_n(flag, 1, __ATOMIC_RELEASE); }

// Raises a flag in such a way that it can be awaited that this thread waits for something.
static inline void raise_number(volatile int *flag) { __atomic_store_n(flag, (int)syscall(SYS_gettid), __ATOMIC_RELEASE); }

// Waits for such a flag, and until that thread is asleep, however long it takes to get there on a crowded machine.
static inline void await_asleep(volatile int *flag) {
  await(flag);
  char path[64], text[256];
  snprintf(path, sizeof path, "/proc/self/task/%d/stat", *flag);
  for (const char *state = 0; !state || state[2] != 'S'; doze(1)) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = read(file, text, sizeof text - 1);
    CHECK(length > 0 && !close(file));
    text[length] = 0;
    state = strrchr(text, ')');
  }
}

static inline pthread_t start(void *(*body)(void *), void *argument) {
  pthread_t thread;
  CHECK(!pthread_create(&thread, 0, body, argument));
  return thread;
}

static inline void finish(pthread_t thread) { CHECK(!pthread_join(thread, 0)); }

// Another thread that tries to have lock n in a mode.
struct probe {
  int n, mode;
  volatile int entered;
};
static inline void *probe_body(void *argument) {
  struct probe *probe = (struct probe *)argument;
  FRAME;
  ACQUIRE(probe->n, (uint32_t)probe->mode, 99);
  raise_flag(&probe->entered);
  RELEASE(probe->n, 99);
  return 0;
}
static inline int enters_within(int n, int mode, int milliseconds) {
  struct probe *probe = (struct probe *)calloc(1, sizeof *probe);
  probe->n = n;
  probe->mode = mode;
  pthread_detach(start(probe_body, probe));
  for (int i = 0; i < milliseconds && !__atomic_load_n(&probe->entered, __ATOMIC_ACQUIRE); i++) doze(1);
  return __atomic_load_n(&probe->entered, __ATOMIC_ACQUIRE);  // a late probe still writes, so it is never freed
}
static inline int is_free(int n, int mode) { return enters_within(n, mode, 3000); }
static inline int is_held(int n, int mode) { return !enters_within(n, mode, 30); }
