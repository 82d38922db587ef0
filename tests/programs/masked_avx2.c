// AVX2 masked loads and stores and gathers: only the enabled lanes are accesses.
// MODE: verify
// CHECK: accesses
// NEEDS: avx2
// FLAGS: -mavx2
// LEVELS: O0 O2
#include <immintrin.h>
#include <stdio.h>

static int a[64] __attribute__((aligned(32))), b[64] __attribute__((aligned(32))), g[8];

__attribute__((noinline, target("avx2"))) static void run(const int *from, int *to, int k) {
  __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, k, -1);
  __m256i v = _mm256_maskload_epi32(from, mask);
  _mm256_maskstore_epi32(to + 3, mask, v);
  __m256i index = _mm256_setr_epi32(0, 5, 10, 15, 20, 25, 30, 35);
  __m256i w = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), from, index, mask, 4);
  _mm256_storeu_si256((__m256i *)g, w);
}

int main(void) {
  for (int i = 0; i < 64; i++) a[i] = i;
  const int *volatile from = a; // nothing for the optimiser to see through
  int *volatile to = b;
  volatile int k = 0;
  run(from, to, k);
  int lanes[] = {0, 2, 7};
  for (int i = 0; i < 3; i++) printf("0:* R %p 4\n", (void *)&a[lanes[i]]);
  for (int i = 0; i < 3; i++) printf("0:* W %p 4\n", (void *)&b[3 + lanes[i]]);
  for (int i = 0; i < 3; i++) printf("0:* R %p 4\n", (void *)&a[5 * lanes[i]]);
  printf("0:* W %p 32\n", (void *)g);
  return g[2] == 10 && b[10] == 7 ? 0 : 1;
}
