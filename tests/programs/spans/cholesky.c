// The Cholesky decomposition of ../cilk/cholesky.c, each row an iteration.
#include <contech/cilk.h>
#undef cilk_run
#define cilk_run(f) loops()
static void loops(void);
#include "../cilk/cholesky.c"

static void loops(void) {
  for (int k = 0; k < NB; k++) {
    rows(k, k * B, k * B + B);
#pragma omp parallel for schedule(guided)
    for (int i = (k + 1) * B; i < N; i++) rows(k, i, i + 1);
  }
}
