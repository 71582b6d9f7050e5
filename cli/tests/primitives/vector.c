// Lanes that a mask lets through are accesses, those that it leaves out are none. On processors without such instructions, plain ones do.
// case store: 0 0 | 0 1
// case left-out: 0 0
// case load: 0 | 1
// case around: pass
// note store: not instrumented: scatter (vector instructions in it gather, scatter or the like, which is not seen)
#include <immintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int memory[8], seen;
static const int masks[3][8] = {{0, -1}, {-1, 0}, {-1, -1}};
__attribute__((target("avx2"))) static void store_lanes(int *to, const int *mask) {
  _mm256_maskstore_epi32(to, _mm256_loadu_si256((const __m256i *)mask), _mm256_set1_epi32(1));
}
__attribute__((target("avx2"))) static void load_lanes(int *to, const int *from, const int *mask) {
  _mm256_storeu_si256((__m256i *)to, _mm256_maskload_epi32(from, _mm256_loadu_si256((const __m256i *)mask)));
}
__attribute__((target("avx512f"))) void scatter(int *to, __m512i at) { _mm512_i32scatter_epi32(to, at, _mm512_set1_epi32(1), 4); }
static void store(int *to, const int *mask) {
  if (__builtin_cpu_supports("avx2")) {
    store_lanes(to, mask);
  } else {
    for (int i = 0; i < 8; i++)
      if (mask[i]) to[i] = 1;
  }
}
static void *store_second(void *unused) {
  store(memory, masks[0]);
  return unused;
}
static void *load_second(void *unused) {
  int lanes[8];
  if (__builtin_cpu_supports("avx2")) load_lanes(lanes, memory, masks[0]);
  else lanes[1] = memory[1];
  seen = lanes[1];
  return unused;
}
int main(int argc, char **argv) {
  const char *is = argc > 1 ? argv[1] : "";
  pthread_t t;
  if (!strcmp(is, "around")) {
    // Lanes that are left out lie in a block that was freed, and behind the end of another.
    int *freed = malloc(8 * sizeof *freed);
    free(freed);
    store(freed, (const int[8]){0});
    int *block = malloc(2 * sizeof *block);
    store(block, masks[2]);
    free(block);
  } else if (!strcmp(is, "load")) {
    pthread_create(&t, NULL, load_second, NULL);
    memory[1] = 1;
    pthread_join(t, NULL);
    printf("%d", seen);
  } else {
    pthread_create(&t, NULL, store_second, NULL);
    int first = memory[0], second = !strcmp(is, "store") ? memory[1] : 0;
    pthread_join(t, NULL);
    printf("%d %d", first, second);
  }
  fflush(stdout);
}
