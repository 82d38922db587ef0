// tests/programs/cilk/fft.c, natively, with the processor's counter read around every transform of more than BASE / 2
// elements: which share of the time the smaller ones take, for comparison with profiles. Prints that share.
#include <x86intrin.h>

#define main profiled_main
#include "../../tests/programs/cilk/fft.c"
#undef main

static unsigned long in_small, reading = ~0ul;

static inline __attribute__((always_inline)) void combine(word *out, int h, word root) {
  word w = 1;
  for (int k = 0; k < h; k++, w = w * root % P) {
    word e = out[k], o = w * out[k + h] % P;
    out[k] = (e + o) % P;
    out[k + h] = (e + P - o) % P;
  }
}

static __attribute__((noinline)) void small(word *out, const word *in, int n, int stride, word root) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int h = n / 2;
  word square = root * root % P;
  small(out, in, h, stride * 2, square);
  small(out + h, in + stride, h, stride * 2, square);
  combine(out, h, root);
}

static __attribute__((noinline)) void timed(word *out, const word *in, int n, int stride, word root) {
  int h = n / 2;
  word square = root * root % P;
  if (n > BASE) {
    timed(out, in, h, stride * 2, square);
    timed(out + h, in + stride, h, stride * 2, square);
  } else {
    unsigned long start = __rdtsc();
    small(out, in, h, stride * 2, square);
    small(out + h, in + stride, h, stride * 2, square);
    in_small += __rdtsc() - start - reading;
  }
  combine(out, h, root);
}

int main(void) {
  for (int i = 0; i < 64; i++) {
    unsigned long start = __rdtsc();
    for (int k = 0; k < 64; k++) __asm__ volatile("" : : "r"(__rdtsc()));
    unsigned long each = (__rdtsc() - start) / 65;
    if (each < reading) reading = each;
  }
  unsigned long start = __rdtsc();
  static word a[N], b[N], c[N];
  for (int i = 0; i < N; i++) a[i] = (word)i * i % P;
  word root = power(3, (P - 1) / N);
  for (int round = 0; round < ROUNDS; round++) {
    timed(b, a, N, 1, root);
    timed(c, b, N, 1, power(root, P - 2));
  }
  word inverse = power(N, P - 2);
  for (int i = 0; i < N; i++)
    if (c[i] * inverse % P != a[i]) return 1;
  // Two readings for each of the smallest timed.
  unsigned long all = __rdtsc() - start - 2 * reading * (2ul * ROUNDS * (N / BASE));
  printf("%.4f\n", (double)in_small / all);
  return 0;
}
