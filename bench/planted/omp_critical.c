// Most of each iteration is in a critical section.
#include <omp.h>
#include "common.h"
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  uint64_t $sum = 0;
#pragma omp parallel for
  for (int i = 0; i < ~1000; i++) {
    $noise(omp_get_thread_num());
    uint64_t x = $work((uint64_t)i, ~10000);
#ifdef MENDED
    x = $work(x, ~100000);
#pragma omp atomic
    $sum += x;
#else
#pragma omp critical // PLANTED: lock
    $sum += $work(x, ~100000); // PLANTED: lock
#endif
  }
  printf("%lu\n", (unsigned long)$sum);
}
