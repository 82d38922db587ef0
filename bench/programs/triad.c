// a[i] = b[i] + k * c[i] over arrays of 128 KiB.
#include <stdio.h>
#include <stdlib.h>
#define N 16384
static double a[N], b[N], c[N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++) b[i] = i, c[i] = N - i;
  for (long r = 0; r < reps; r++) {
    double k = (double)r * 0.5;
    for (int i = 0; i < N; i++) a[i] = b[i] + k * c[i];
    b[r % N] = a[(r * 7) % N] * 1e-9;
  }
  double s = 0;
  for (int i = 0; i < N; i++) s += a[i];
  printf("%.6e\n", s);
}
