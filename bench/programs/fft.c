// Radix-2 Fourier transform of 4096 complex numbers, forth and back.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#define N 4096
static double re[N], im[N], co[N / 2], si[N / 2];
static void transform(int sign) {
  for (int i = 1, j = 0; i < N; i++) {
    int bit = N >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j |= bit;
    if (i < j) {
      double t = re[i];
      re[i] = re[j], re[j] = t;
      t = im[i];
      im[i] = im[j], im[j] = t;
    }
  }
  for (int length = 2; length <= N; length *= 2)
    for (int i = 0; i < N; i += length)
      for (int k = 0; k < length / 2; k++) {
        double wr = co[k * (N / length)], wi = sign * si[k * (N / length)];
        int a = i + k, b = a + length / 2;
        double xr = re[b] * wr - im[b] * wi, xi = re[b] * wi + im[b] * wr;
        re[b] = re[a] - xr, im[b] = im[a] - xi;
        re[a] += xr, im[a] += xi;
      }
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N / 2; i++) co[i] = cos(2 * M_PI * i / N), si[i] = sin(2 * M_PI * i / N);
  for (int i = 0; i < N; i++) re[i] = i % 17, im[i] = i % 5;
  for (long r = 0; r < reps; r++) {
    transform(1);
    transform(-1);
    for (int i = 0; i < N; i++) re[i] /= N, im[i] /= N;
  }
  printf("%.6f %.6f\n", re[100], im[1000]);
}
