// The LU decomposition of ../cilk/lu.c, its blocks in loops.
#include <contech/cilk.h>
#undef cilk_run
#define cilk_run(f) loops()
static void loops(void);
#include "../cilk/lu.c"

static void loops(void) {
  for (int k = 0; k < NB; k++) {
    factor(k);
#pragma omp parallel
    {
#pragma omp for nowait
      for (int i = k + 1; i < NB; i++) right(k, i);
#pragma omp for
      for (int i = k + 1; i < NB; i++) below(k, i);
#pragma omp for collapse(2) schedule(dynamic)
      for (int i = k + 1; i < NB; i++)
        for (int j = k + 1; j < NB; j++) update(k, i, j);
    }
  }
}
