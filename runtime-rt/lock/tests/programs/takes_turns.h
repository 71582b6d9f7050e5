// A thread that holds lock 0 and waits, in one call after another, for what another thread does under the same lock.
#pragma once
#include "hooks.h"
static volatile int turn, taken;
static void let_go(int call);
static void *others_turns(void *calls) {
  FRAME;
  for (int i = 1; i <= *(int *)calls; i++) {
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != i) doze(1);
    ACQUIRE(0, X, 2);
    let_go(i);
    RELEASE(0, 2);
    __atomic_store_n(&taken, i, __ATOMIC_RELEASE);
  }
  return calls;
}
// Runs `wait_in(1)` to `wait_in(calls)`, each with lock 0 in its hands, which it has to give up for that.
static inline void take_turns(int calls, void (*wait_in)(int call)) {
  FRAME;
  pthread_t thread = start(others_turns, &calls);
  for (int i = 1; i <= calls; i++) {
    ACQUIRE(0, X, 1);
    __atomic_store_n(&turn, i, __ATOMIC_RELEASE);
    wait_in(i);
    RELEASE(0, 1);
    while (__atomic_load_n(&taken, __ATOMIC_ACQUIRE) != i) doze(1);
  }
  finish(thread);
}
