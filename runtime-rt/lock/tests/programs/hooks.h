// What injection puts into a program: the table of locks, and calls of the hooks. A frame is the address of a local.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif
struct atomfix_lock {
  _Alignas(64) unsigned char bytes[64];
};
extern struct atomfix_lock __atomfix_locks[];
void __atomfix_acquire(void *lock, uint32_t mode, uint32_t label, void *frame);
void __atomfix_release(void *lock, uint32_t label, void *frame);
void __atomfix_degrade(void *lock, uint32_t label, void *frame);
void __atomfix_unwind(void *frame);
#ifdef __cplusplus
}
#endif

enum { R = 1, U = 2, X = 3 };
#define LOCK(n) (&__atomfix_locks[n])
#define FRAME char frame_marker; void *frame = &frame_marker
#define ACQUIRE(n, mode, label) __atomfix_acquire(LOCK(n), mode, label, frame)
#define RELEASE(n, label) __atomfix_release(LOCK(n), label, frame)
#define DEGRADE(n, label) __atomfix_degrade(LOCK(n), label, frame)

// Unlike assert, in force in every build, and says where.
#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      abort(); \
    } \
  } while (0)
