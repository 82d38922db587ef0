// Five-point stencil on a 256 x 256 grid.
#include <stdio.h>
#include <stdlib.h>
#define N 256
static double g[2][N][N];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < N; i++) g[0][i][0] = g[1][i][0] = i;
  for (long r = 0; r < reps; r++) {
    double(*from)[N] = g[r & 1], (*to)[N] = g[~r & 1];
    for (int i = 1; i < N - 1; i++)
      for (int k = 1; k < N - 1; k++)
        to[i][k] = 0.25 * (from[i - 1][k] + from[i + 1][k] + from[i][k - 1] + from[i][k + 1]);
  }
  double s = 0;
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) s += g[reps & 1][i][k];
  printf("%.6e\n", s);
}
