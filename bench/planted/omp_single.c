// One thread works while the others of its team wait at the end of a single construct.
#include <omp.h>
#include "common.h"
static uint64_t $table[64], $sums[MOST_THREADS][8];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#pragma omp parallel
  {
    int t = omp_get_thread_num();
    for (int step = 0; step < 8; step++) {
#ifdef MENDED
#pragma omp for
#else
#pragma omp single // PLANTED: serial
#endif
      for (int i = 0; i < 64; i++) $table[i] = $work((uint64_t)i, ~200000); // PLANTED: serial
#pragma omp for
      for (int i = 0; i < 64; i++) $sums[t][0] += $work($table[i], ~60000);
    }
  }
  printf("%lu\n", (unsigned long)$table[0]);
}
