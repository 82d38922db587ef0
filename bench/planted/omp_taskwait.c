// Each task is waited for before the next is made.
#include <omp.h>
#include "common.h"
static uint64_t $sums[64];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#pragma omp parallel
#pragma omp single
  {
    for (int i = 0; i < 64; i++) {
#pragma omp task firstprivate(i)
      $sums[i] = $work((uint64_t)i, ~2000000); // PLANTED: serial, imbalance
#ifndef MENDED
#pragma omp taskwait // PLANTED: serial, imbalance
#endif
    }
#pragma omp taskwait
  }
  printf("%lu\n", (unsigned long)$sums[0]);
}
