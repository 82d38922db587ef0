// Vectors in loops of a microsecond, again and again: what a loop costs, not an iteration.
#include <stdio.h>

#ifndef N
#define N 64
#endif
static double a[N], b[N], c[N];

int main(void) {
  for (int i = 0; i < N; i++) b[i] = i, c[i] = 2 * i;
  for (int round = 0; round < 100000; round++) {
#pragma omp parallel for
    for (int i = 0; i < N; i++) a[i] = b[i] + 3 * c[i];
  }
  printf("%.0f\n", a[N - 1]);
  return a[N - 1] != 7 * (N - 1);
}
