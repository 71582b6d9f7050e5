// A library that is opened while a region is held; its waits are seen because
// the program exports the functions that stand in front of libc's.
// languages: c c++
// stats: meet=1 condition=1
// library: libopened.c
#include <dlfcn.h>
#include "hooks.h"
static volatile int go;
static void (*let_go)(void);
static void (*wait_there)(void);
static void (*signal_there)(void);
static void (*wait_signalled)(void);
static void *body(void *unused) {
  FRAME;
  await(&go);
  ACQUIRE(0, X, 2);
  let_go();
  RELEASE(0, 2);
  while (go != 2) doze(1);
  ACQUIRE(0, X, 3);
  signal_there();
  RELEASE(0, 3);
  return unused;
}
int main(void) {
  FRAME;
  ACQUIRE(1, X, 1);
  void *library = dlopen(LIBRARY, RTLD_NOW);
  CHECK(library);
  CHECK(is_held(1, R));
  RELEASE(1, 1);
  *(void **)&let_go = dlsym(library, "let_go");
  *(void **)&wait_there = dlsym(library, "wait_there");
  *(void **)&signal_there = dlsym(library, "signal_there");
  *(void **)&wait_signalled = dlsym(library, "wait_signalled");
  CHECK(let_go && wait_there && signal_there && wait_signalled);
  pthread_t thread = start(body, 0);
  ACQUIRE(0, X, 1);
  raise_flag(&go);
  wait_there();
  RELEASE(0, 1);
  ACQUIRE(0, X, 1);
  __atomic_store_n(&go, 2, __ATOMIC_RELEASE);
  wait_signalled();
  RELEASE(0, 1);
  finish(thread);
  CHECK(!dlclose(library));
  return 0;
}
