// LU decomposition without pivoting, 160 x 160: a triangular affine nest.
#include <stdio.h>
#include <stdlib.h>
#define N 160
static double a[N][N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  double trace = 0;
  for (long r = 0; r < reps; r++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) a[i][j] = i == j ? N : (i * j + r) % 7;
    for (int k = 0; k < N; k++)
      for (int i = k + 1; i < N; i++) {
        a[i][k] /= a[k][k];
        for (int j = k + 1; j < N; j++) a[i][j] -= a[i][k] * a[k][j];
      }
    for (int i = 0; i < N; i++) trace += a[i][i];
  }
  printf("%.6e\n", trace);
}
