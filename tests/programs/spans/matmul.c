// A product of matrices, each row an iteration that calls nothing.
#include <stdio.h>

#ifndef N
#define N 48
#endif
static double a[N][N], b[N][N], c[N][N];

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i == j ? 2 : 0, b[i][j] = i + j;
#pragma omp parallel for
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      for (int j = 0; j < N; j++) c[i][j] += a[i][k] * b[k][j];
  int wrong = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) wrong += c[i][j] != 2 * b[i][j];
  printf("%d\n", wrong);
  return wrong;
}
