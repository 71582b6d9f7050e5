// Atomic objects that the compiler has no instruction for: the functions it calls instead are seen, as one step each.
// flags: -latomic -Wno-atomic-alignment
// case pair: 0 | 1
// case odd: 0 | 1
// case big: 0 | 1
// case exchange: 0 1 | 1 0
// case compare: 2
// case lost: 1 | 2
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
struct pair {
  long a, b;
};
struct odd {
  char a, b, c;
};
struct big {
  long a, b, c;
};
static _Atomic struct pair pair;
static _Atomic struct odd odd;
static _Atomic struct big big;
static void *set_pair(void *unused) {
  pair = (struct pair){1, 1};
  return unused;
}
static void *set_odd(void *unused) {
  odd = (struct odd){1, 1, 1};
  return unused;
}
static void *set_big(void *unused) {
  big = (struct big){1, 1, 1};
  return unused;
}
static void *exchange(void *found) {
  *(long *)found = atomic_exchange(&pair, ((struct pair){1, 1})).a;
  return NULL;
}
static void *add(void *unused) {
  struct pair before = atomic_load(&pair);
  while (!atomic_compare_exchange_strong(&pair, &before, ((struct pair){before.a + 1, before.b + 1}))) {
  }
  return unused;
}
static void *lose(void *unused) {
  struct pair now = pair;
  now.a++;
  pair = now;
  return unused;
}
static void both(void *(*does)(void *), void *mine, void *other) {
  pthread_t t;
  pthread_create(&t, NULL, does, other);
  does(mine);
  pthread_join(t, NULL);
}
int main(int count, char **arguments) {
  const char *is = arguments[count - 1];
  pthread_t t;
  if (!strcmp(is, "pair")) {
    pthread_create(&t, NULL, set_pair, NULL);
    struct pair seen = pair;
    pthread_join(t, NULL);
    printf("%ld", seen.b);
  } else if (!strcmp(is, "odd")) {
    pthread_create(&t, NULL, set_odd, NULL);
    struct odd seen = odd;
    pthread_join(t, NULL);
    printf("%d", seen.c);
  } else if (!strcmp(is, "big")) {
    pthread_create(&t, NULL, set_big, NULL);
    struct big seen = big;
    pthread_join(t, NULL);
    printf("%ld", seen.c);
  } else if (!strcmp(is, "exchange")) {
    long mine, other;
    both(exchange, &mine, &other);
    printf("%ld %ld", mine, other);
  } else if (!strcmp(is, "compare")) {
    both(add, NULL, NULL);
    printf("%ld", atomic_load(&pair).a);
  } else {
    both(lose, NULL, NULL);
    printf("%ld", atomic_load(&pair).a);
  }
}
