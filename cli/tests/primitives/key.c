// Thread-specific values and the destructors that run at a thread's end.
// case own: 1 2
// case destroyed: 3
// case again: 4
// case deleted: 0
// case c11: 3
// case local: 5 0
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <threads.h>
static pthread_key_t k;
static tss_t c11;
static atomic_int sum;
static _Thread_local int mine;
static void destroy(void *value) { sum += (int)(long)value; }
static void destroy_again(void *value) {
  sum++;
  pthread_setspecific(k, value);
}
static void *store(void *value) {
  pthread_setspecific(k, value);
  return pthread_getspecific(k);
}
static int store_c11(void *value) { return tss_set(c11, value); }
static void *set_mine(void *unused) {
  mine = 5;
  sum = mine;
  return unused;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t, u;
  void *first, *second;
  if (!strcmp(is, "c11")) {
    thrd_t x, y;
    tss_create(&c11, destroy);
    thrd_create(&x, store_c11, (void *)1);
    thrd_create(&y, store_c11, (void *)2);
    thrd_join(x, NULL);
    thrd_join(y, NULL);
    printf("%d", (int)sum);
  } else if (!strcmp(is, "local")) {
    pthread_create(&t, NULL, set_mine, NULL);
    pthread_join(t, NULL);
    printf("%d %d", (int)sum, mine);
  } else {
    pthread_key_create(&k, !strcmp(is, "own") ? NULL : !strcmp(is, "again") ? destroy_again : destroy);
    pthread_create(&t, NULL, store, (void *)1);
    if (strcmp(is, "again")) pthread_create(&u, NULL, store, (void *)2);
    pthread_join(t, &first);
    if (strcmp(is, "again")) pthread_join(u, &second);
    if (!strcmp(is, "own")) printf("%ld %ld", (long)first, (long)second);
    else if (strcmp(is, "deleted")) printf("%d", (int)sum);
    if (!strcmp(is, "deleted")) {
      sum = 0;
      pthread_key_delete(k);
      pthread_create(&t, NULL, store, (void *)1);
      pthread_join(t, NULL);
      printf("%d", (int)sum);
    }
  }
  fflush(stdout);
}
