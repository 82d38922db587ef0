// Blocked matrix product, 192 x 192, blocks of 32.
#include <stdio.h>
#include <stdlib.h>
#define N 192
#define B 32
// Aligned, so that the recorded executable has them at the same places in cache lines as the native one.
static _Alignas(64) double a[N][N], b[N][N], c[N][N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) a[i][k] = i - k, b[i][k] = i + k;
  for (long r = 0; r < reps; r++)
    for (int ii = 0; ii < N; ii += B)
      for (int kk = 0; kk < N; kk += B)
        for (int jj = 0; jj < N; jj += B)
          for (int i = ii; i < ii + B; i++)
            for (int k = kk; k < kk + B; k++) {
              double x = a[i][k];
              for (int j = jj; j < jj + B; j++) c[i][j] += x * b[k][j];
            }
  double s = 0;
  for (int i = 0; i < N; i++) s += c[i][(i * 7) % N];
  printf("%.6e\n", s);
}
