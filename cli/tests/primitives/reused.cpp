// Memory in which a synchronization object was destroyed, and that becomes another one in ways that no call tells of: no misuse. What it became on
// a stack whose frame is gone is one.
// flags: -std=c++20 -O1
// case frame: pass
// case frame-other: pass
// case frame-c: pass
// case placed: pass
// case placed-other: pass
// case optional: pass
// case copied: pass
// case zeros: pass
// case assigned: pass
// case mapped: pass
// case heap: pass
// case initialized: pass
// case stack-of-thread: pass
// case left-frame: pass | misuse a synchronization object is used that was destroyed
// case left-frame-overwritten: pass | misuse a synchronization object is used that was destroyed
// case half-overwritten: misuse a synchronization object is used that was destroyed
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <pthread.h>
#include <semaphore.h>
#include <shared_mutex>
#include <sys/mman.h>
#include <thread>
union Any {
  std::condition_variable condition;
  std::mutex mutex;
  std::recursive_mutex recursive;
  std::shared_mutex shared;
  pthread_mutex_t m;
  pthread_cond_t c;
  pthread_rwlock_t l;
  sem_t s;
  pthread_barrier_t b;
  Any() {}
  ~Any() {}
};
static Any any;
template <typename F> static void beside(F f) {
  std::thread t(f);
  f();
  t.join();
}
static void use(std::condition_variable &condition) {
  beside([&] { condition.notify_all(); });
}
template <typename M> static void use_lock(M &mutex) {
  beside([&] { std::lock_guard own(mutex); });
}
static void use_c(pthread_mutex_t *m) {
  beside([=] {
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
  });
}
static void use_c(pthread_rwlock_t *l) {
  beside([=] {
    pthread_rwlock_rdlock(l);
    pthread_rwlock_unlock(l);
  });
}
// Objects of one size in one frame: they have the same addresses in turn.
__attribute__((noinline)) static void in_frame() {
  std::condition_variable own;
  use(own);
}
__attribute__((noinline)) static void destroyed_in_frame() {
  Any own;
  pthread_barrier_init(&own.b, nullptr, 1);
  pthread_barrier_destroy(&own.b);
}
template <typename M> __attribute__((noinline)) static void lock_in_frame() {
  Any own;
  use_lock(*new (&own) M);
}
__attribute__((noinline)) static void c_in_frame() {
  Any own;
  own.m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
  use_c(&own.m);
}
__attribute__((noinline)) static void rwlock_in_frame() {
  Any own;
  own.l = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
  use_c(&own.l);
}
static std::atomic<int> a;
static std::thread late;
__attribute__((noinline)) static void leave() {
  std::condition_variable own;
  late = std::thread([&] {
    a = 1;
    own.notify_all();
  });
  while (!a) {
  }
}
__attribute__((noinline)) static void overwrite() {
  volatile long much[64];
  for (volatile long &at : much) at = (long)&much;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  auto named = [&](const char *name) { return !std::strcmp(is, name); };
  auto destroyed = [](Any &any) {
    pthread_rwlock_init(&any.l, nullptr);
    pthread_rwlock_destroy(&any.l);
  };
  if (named("frame")) {
    for (int i = 0; i < 3; i++) in_frame();
  } else if (named("frame-other")) {
    destroyed_in_frame();
    lock_in_frame<std::mutex>();
    destroyed_in_frame();
    lock_in_frame<std::recursive_mutex>();
    destroyed_in_frame();
    lock_in_frame<std::shared_mutex>();
  } else if (named("frame-c")) {
    destroyed_in_frame();
    c_in_frame();
    destroyed_in_frame();
    rwlock_in_frame();
  } else if (named("placed")) {
    for (int i = 0; i < 3; i++) {
      use(*new (&any) std::condition_variable);
      any.condition.~condition_variable();
    }
  } else if (named("placed-other")) {
    destroyed(any);
    use_lock(*new (&any) std::mutex);
    destroyed(any);
    use_lock(*new (&any) std::recursive_mutex);
    destroyed(any);
    use_lock(*new (&any) std::shared_mutex);
  } else if (named("optional")) {
    std::optional<std::condition_variable> own;
    for (int i = 0; i < 3; i++) {
      own.emplace();
      use(*own);
      own.reset();
    }
  } else if (named("copied")) {
    static const pthread_mutex_t fresh = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    destroyed(any);
    std::memcpy((void *)&any, &fresh, sizeof fresh);
    use_c(&any.m);
    destroyed(any);
    static sem_t counted;
    sem_init(&counted, 0, 3);
    std::memcpy((void *)&any, &counted, sizeof counted);
    sem_post(&any.s);
  } else if (named("zeros")) {
    destroyed(any);
    std::memset((void *)&any, 0, sizeof any);
    use_c(&any.l);
  } else if (named("assigned")) {
    destroyed(any);
    any.l = PTHREAD_RWLOCK_INITIALIZER;
    use_c(&any.l);
    destroyed(any);
    any.m = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
    use_c(&any.m);
    destroyed(any);
    any.c = PTHREAD_COND_INITIALIZER;
    beside([] { pthread_cond_signal(&any.c); });
  } else if (named("mapped")) {
    void *place = nullptr;
    for (int i = 0; i < 2; i++) {
      place = mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0), -1, 0);
      use_c(&static_cast<Any *>(place)->m);
      pthread_mutex_destroy(&static_cast<Any *>(place)->m);
      munmap(place, 4096);
    }
  } else if (named("heap")) {
    for (int i = 0; i < 3; i++) {
      auto *own = new std::condition_variable;
      use(*own);
      delete own;
      auto *other = new Any;
      use_lock(*new (other) std::mutex);
      delete other;
    }
  } else if (named("initialized")) {
    // With counts that are no small numbers.
    destroyed(any);
    sem_init(&any.s, 0, 2000000000);
    sem_post(&any.s);
    destroyed(any);
    pthread_barrier_init(&any.b, nullptr, 2);
    beside([] { pthread_barrier_wait(&any.b); });
  } else if (named("stack-of-thread")) {
    for (int i = 0; i < 2; i++) std::thread(in_frame).join();
  } else if (named("left-frame")) {
    leave();
    late.join();
  } else if (named("left-frame-overwritten")) {
    leave();
    overwrite();
    late.join();
  } else if (named("half-overwritten")) {
    destroyed(any);
    *reinterpret_cast<int *>(&any) = 0;
    pthread_rwlock_rdlock(&any.l);
  }
}
