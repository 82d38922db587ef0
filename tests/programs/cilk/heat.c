// Heat diffusion: strips of a grid in parallel, step by step.
#include <contech/cilk.h>
#include <stdio.h>

enum { STEPS = 10 };
#ifndef STRIP
#define STRIP 8
#endif
#ifndef N
#define N 64
#endif
static long grid[2][N][N];

static void strip(long (*to)[N], long (*from)[N], int low, int high) {
  if (high - low > STRIP) {
    int mid = low + (high - low) / 2;
    cilk_spawn(strip, to, from, low, mid);
    strip(to, from, mid, high);
    cilk_sync;
    return;
  }
  for (int i = low; i < high; i++)
    for (int j = 0; j < N; j++)
      to[i][j] = from[(i + 1) % N][j] + from[(i + N - 1) % N][j] + from[i][(j + 1) % N] + from[i][(j + N - 1) % N];
}

static void heat(void) {
  for (int t = 0; t < STEPS; t++) strip(grid[1 - t % 2], grid[t % 2], 0, N);
}

int main(void) {
  long before = 0, after = 0;
  for (int i = 0; i < N * N; i++) before += grid[0][i / N][i % N] = i % 13;
  cilk_run(heat);
  for (int i = 0; i < N * N; i++) after += grid[STEPS % 2][i / N][i % N];
  for (int t = 0; t < STEPS; t++) before *= 4;
  printf("%d\n", before == after);
  return before != after;
}
