// C11 threads.
// case mutex: 2
// case recursive: 0
// case try: 0 | 1
// case timed: 0 | 4
// case condition: 1
// case condition-timed: 0 | 4
// case broadcast: 2
// case once: 1
// case value: 7
// case detached: 1
#include <stdio.h>
#include <string.h>
#include <threads.h>
#include <time.h>
static mtx_t m;
static cnd_t c, arrived;
static once_flag o = ONCE_FLAG_INIT;
static int n, ready, waiting;
static const struct timespec later = {2000000000, 0};
static int add(void *unused) {
  (void)unused;
  mtx_lock(&m);
  n++;
  mtx_unlock(&m);
  return 7;
}
static int give(void *unused) {
  (void)unused;
  mtx_lock(&m);
  ready = 1;
  cnd_signal(&c);
  mtx_unlock(&m);
  return 0;
}
static int wait_once(void *unused) {
  (void)unused;
  mtx_lock(&m);
  waiting++;
  cnd_signal(&arrived);
  cnd_wait(&c, &m);
  n++;
  mtx_unlock(&m);
  return 0;
}
static void make(void) { n++; }
static int call(void *unused) {
  (void)unused;
  call_once(&o, make);
  return n;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  thrd_t t, u;
  int result = -1, other;
  mtx_init(&m, !strcmp(is, "recursive") ? mtx_plain | mtx_recursive : mtx_timed);
  cnd_init(&c);
  cnd_init(&arrived);
  if (!strcmp(is, "mutex")) {
    thrd_create(&t, add, NULL);
    add(NULL);
    thrd_join(t, NULL);
    printf("%d", n);
  } else if (!strcmp(is, "value")) {
    thrd_create(&t, add, NULL);
    thrd_join(t, &result);
    printf("%d", result);
  } else if (!strcmp(is, "detached")) {
    thrd_create(&t, give, NULL);
    thrd_detach(t);
    mtx_lock(&m);
    while (!ready) cnd_wait(&c, &m);
    mtx_unlock(&m);
    thrd_yield();
    printf("%d", ready);
  } else if (!strcmp(is, "recursive")) {
    thrd_create(&t, add, NULL);
    mtx_lock(&m);
    result = mtx_lock(&m);
    mtx_unlock(&m);
    mtx_unlock(&m);
    thrd_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "try") || !strcmp(is, "timed")) {
    thrd_create(&t, add, NULL);
    result = *(is + 1) == 'r' ? mtx_trylock(&m) : mtx_timedlock(&m, &later);
    if (!result) mtx_unlock(&m);
    thrd_join(t, NULL);
    printf("%d", result);
  } else if (!strncmp(is, "condition", 9)) {
    thrd_create(&t, give, NULL);
    mtx_lock(&m);
    result = 0;
    if (strcmp(is, "condition")) {
      if (!ready) result = cnd_timedwait(&c, &m, &later);
    } else {
      while (!ready) cnd_wait(&c, &m);
      result = ready;
    }
    mtx_unlock(&m);
    thrd_join(t, NULL);
    printf("%d", result);
  } else if (!strcmp(is, "broadcast")) {
    thrd_create(&t, wait_once, NULL);
    thrd_create(&u, wait_once, NULL);
    mtx_lock(&m);
    while (waiting < 2) cnd_wait(&arrived, &m);
    cnd_broadcast(&c);
    mtx_unlock(&m);
    thrd_join(t, NULL);
    thrd_join(u, NULL);
    printf("%d", n);
  } else {
    thrd_create(&t, call, NULL);
    result = call(NULL);
    thrd_join(t, &other);
    printf("%d", result == other ? result : -1);
  }
  fflush(stdout);
}
