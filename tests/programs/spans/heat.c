// The heat diffusion of ../cilk/heat.c, its strips in a loop.
#include <contech/cilk.h>
#undef cilk_run
#define cilk_run(f) loops()
static void loops(void);
#include "../cilk/heat.c"

static void loops(void) {
  for (int t = 0; t < STEPS; t++) {
#pragma omp parallel for
    for (int low = 0; low < N; low += STRIP) strip(grid[1 - t % 2], grid[t % 2], low, low + STRIP);
  }
}
