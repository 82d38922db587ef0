// AVX-512 masked, expanding, compressing, gathering and scattering code, written and by the vectoriser.
// MODE: verify
// CHECK: bytes
// NEEDS: avx512f
// FLAGS: -mavx512f -mavx512vl -mprefer-vector-width=512
// LEVELS: O0 O2 O3
#include <immintrin.h>
#include <stdio.h>

static int a[64] __attribute__((aligned(64))), b[64] __attribute__((aligned(64))), c[64], d[64], e[256], f[256];

__attribute__((noinline)) static void run(const int *from, int *to, int k) {
  __m512i v = _mm512_mask_loadu_epi32(_mm512_setzero_si512(), (__mmask16)(0x11 * k), from);
  _mm512_mask_storeu_epi32(to, (__mmask16)(0x8001 * k), v);
  __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  __m512i w = _mm512_mask_i32gather_epi32(v, (__mmask16)(0x0300 * k), index, from + 16, 4);
  _mm512_mask_i32scatter_epi32(to + 16, (__mmask16)(0x0003 * k), index, w, 4);
  _mm512_mask_compressstoreu_epi32(c, (__mmask16)(0x0f0 * k), w);
  v = _mm512_mask_expandloadu_epi32(v, (__mmask16)(0xa0a0 * k), d);
  _mm512_storeu_si512(c + 32, v);
}
__attribute__((noinline)) static void loop(int n) {
  for (int i = 0; i < n; i++)
    if (e[i] > 100) f[i] = e[i] * 2;
}

int main(void) {
  for (int i = 0; i < 64; i++) a[i] = d[i] = i;
  for (int i = 0; i < 256; i++) e[i] = i;
  const int *volatile from = a; // nothing for the optimiser to see through
  int *volatile to = b;
  volatile int k = 1;
  run(from, to, k);
  loop(256 * k);
  printf("R %p 4\nR %p 4\n", (void *)&a[0], (void *)&a[4]);
  printf("W %p 4\nW %p 4\n", (void *)&b[0], (void *)&b[15]);
  printf("R %p 4\nR %p 4\n", (void *)&a[16 + 16], (void *)&a[16 + 18]);
  printf("W %p 4\nW %p 4\n", (void *)&b[16], (void *)&b[18]);
  printf("W %p 16\n", (void *)c);
  printf("R %p 16\n", (void *)d);
  printf("W %p 64\n", (void *)(c + 32));
  printf("W %p %d\n", (void *)&f[101], 155 * 4);
  printf("ONLY R %p %zu\nONLY W %p %zu\nONLY W %p %zu\nONLY R %p %zu\nONLY W %p %zu\n", (void *)a, sizeof a, (void *)b, sizeof b,
         (void *)c, sizeof c, (void *)d, sizeof d, (void *)f, sizeof f);
  return c[0] == 4 ? 0 : 1;
}
