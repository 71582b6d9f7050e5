// The records through which the compiler's headers load and store anywhere do not name a place.
// COMPILE: -O1
// RUN: extract CHECK
#include <emmintrin.h>
void copy(char *to, const char *from) {
  _mm_storeu_si128((__m128i *)to, _mm_loadu_si128((const __m128i *)from));
}
// CHECK:      function _mm_storeu_si128
// CHECK:      write *s
// CHECK:      function _mm_loadu_si128
// CHECK:      read *s
