// Sums and scatters through an index array: 2^16 indices into 2^16 doubles.
#include <stdio.h>
#include <stdlib.h>
#define N 65536
static double from[N], to[N];
static unsigned at[N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 1;
  for (int i = 0; i < N; i++) from[i] = i, at[i] = (s = s * 1664525u + 1013904223u) >> 16;
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < N; i++) to[at[i]] += from[at[N - 1 - i]];
  double h = 0;
  for (int i = 0; i < N; i++) h += to[i] * (i & 7);
  printf("%.6e\n", h);
}
