// Ends of threads by pthread_exit: cleanup handlers and destructors run, and the value arrives.
// case value: 7
// case cleanup: 321 7
// case destructor: 21 7
// case nested: 1 7
// case c11: 7
// case terminate: assert the program called abort
#include <atomic>
#include <cstdio>
#include <cstring>
#include <pthread.h>
#include <threads.h>
static std::atomic<int> order;
static void note(void *digit) { order = order * 10 + (int)(long)digit; }
struct Noted {
  long digit;
  ~Noted() { note((void *)digit); }
};
static void leave() { pthread_exit((void *)7); }
static void *value(void *) {
  leave();
  return nullptr;
}
static void *cleanup(void *) {
  pthread_cleanup_push(note, (void *)1);
  pthread_cleanup_push(note, (void *)2);
  pthread_cleanup_push(note, (void *)3);
  leave();
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
  return nullptr;
}
static void *destructor(void *) {
  Noted first{1};
  {
    Noted second{2};
    leave();
  }
  return nullptr;
}
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void unlock(void *) {
  note((void *)1);
  pthread_mutex_unlock(&m);
}
static void *nested(void *) {
  pthread_mutex_lock(&m);
  pthread_cleanup_push(unlock, nullptr);
  leave();
  pthread_cleanup_pop(1);
  return nullptr;
}
static int c11(void *) { thrd_exit(7); }
static void *terminate(void *) noexcept {
  leave();
  return nullptr;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t;
  void *result;
  if (!std::strcmp(is, "c11")) {
    thrd_t u;
    int number;
    thrd_create(&u, c11, nullptr);
    thrd_join(u, &number);
    std::printf("%d", number);
  } else {
    void *(*routine)(void *) = !std::strcmp(is, "value") ? value
                               : !std::strcmp(is, "cleanup") ? cleanup
                               : !std::strcmp(is, "destructor") ? destructor
                               : !std::strcmp(is, "nested") ? nested
                                                            : terminate;
    pthread_create(&t, nullptr, routine, nullptr);
    if (!std::strcmp(is, "nested")) {
      pthread_mutex_lock(&m);
      pthread_mutex_unlock(&m);
    }
    pthread_join(t, &result);
    if (order) std::printf("%d ", (int)order);
    std::printf("%ld", (long)result);
  }
  std::fflush(stdout);
}
