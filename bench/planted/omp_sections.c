// Sections of which one is much longer than the others.
#include <omp.h>
#include "common.h"
#ifdef MENDED
enum { LONG = ~30000000, SHORT = ~30000000 };
#else
enum { LONG = ~100000000, SHORT = ~6000000 };
#endif
static uint64_t $sums[4][8];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#pragma omp parallel sections
  {
#pragma omp section
    $sums[0][0] = $work(1, SHORT);
#pragma omp section
    $sums[1][0] = $work(2, SHORT);
#pragma omp section
    $sums[2][0] = $work(3, LONG); // PLANTED: imbalance
#pragma omp section
    $sums[3][0] = $work(4, SHORT);
  }
  printf("%lu\n", (unsigned long)($sums[0][0] + $sums[1][0] + $sums[2][0] + $sums[3][0]));
}
