// Threads that create threads: numbers follow the order of creations, and who came to its creation first makes no difference.
// schedules: 6 with THREADS=2
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void create(void *(*body)(void *)) {
  pthread_t thread;
  pthread_create(&thread, 0, body, 0);
}

static void *nothing(void *unused) { return unused; }

static void *writer(void *unused) {
  x = THREADS;
  create(nothing);
  return unused;
}

static void *between(void *unused) {
  create(writer);
  return unused;
}

static void *first(void *unused) {
  create(writer);
  create(between);
  return unused;
}

int main(void) {
  create(first);
  pthread_exit(0);
}
