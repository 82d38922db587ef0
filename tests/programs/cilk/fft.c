// Fast Fourier transform modulo a prime: exact, forth and back.
#include <contech/cilk.h>
#include <stdio.h>

enum { BASE = 32 };
#ifndef N
#define N 2048
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#define P 998244353ul
typedef unsigned long word;

static word power(word b, word e) {
  word r = 1;
  for (; e; e >>= 1, b = b * b % P)
    if (e & 1) r = r * b % P;
  return r;
}

static void fft(word *out, const word *in, int n, int stride, word root) {
  if (n == 1) {
    out[0] = in[0];
    return;
  }
  int h = n / 2;
  word square = root * root % P;
  if (n > BASE) {
    cilk_spawn(fft, out, in, h, stride * 2, square);
    fft(out + h, in + stride, h, stride * 2, square);
    cilk_sync;
  } else {
    fft(out, in, h, stride * 2, square);
    fft(out + h, in + stride, h, stride * 2, square);
  }
  word w = 1;
  for (int k = 0; k < h; k++, w = w * root % P) {
    word e = out[k], o = w * out[k + h] % P;
    out[k] = (e + o) % P;
    out[k + h] = (e + P - o) % P;
  }
}

int main(void) {
  static word a[N], b[N], c[N];
  for (int i = 0; i < N; i++) a[i] = (word)i * i % P;
  word root = power(3, (P - 1) / N);
  for (int round = 0; round < ROUNDS; round++) {
    cilk_run(fft, b, a, N, 1, root);
    cilk_run(fft, c, b, N, 1, power(root, P - 2));
  }
  word inverse = power(N, P - 2);
  int wrong = 0;
  for (int i = 0; i < N; i++) wrong += c[i] * inverse % P != a[i];
  printf("%d\n", wrong);
  return wrong;
}
