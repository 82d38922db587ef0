// Conway's game of life on 256 x 256 bytes: neighbours and a rule with branches.
#include <stdio.h>
#include <stdlib.h>
#define N 256
static unsigned char world[2][N + 2][N + 2];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 11;
  for (int i = 1; i <= N; i++)
    for (int j = 1; j <= N; j++) world[0][i][j] = (s = s * 1664525u + 1013904223u) >> 30 == 0;
  for (long r = 0; r < reps; r++) {
    unsigned char(*from)[N + 2] = world[r & 1], (*to)[N + 2] = world[~r & 1];
    for (int i = 1; i <= N; i++)
      for (int j = 1; j <= N; j++) {
        int n = from[i - 1][j - 1] + from[i - 1][j] + from[i - 1][j + 1] + from[i][j - 1] + from[i][j + 1] +
                from[i + 1][j - 1] + from[i + 1][j] + from[i + 1][j + 1];
        if (from[i][j]) to[i][j] = n == 2 || n == 3;
        else if (n == 3) to[i][j] = 1;
        else to[i][j] = 0;
      }
  }
  unsigned long alive = 0;
  for (int i = 0; i < N + 2; i++)
    for (int j = 0; j < N + 2; j++) alive += world[reps & 1][i][j] * (unsigned)(i ^ j);
  printf("%lu\n", alive);
}
