// Iterations that grow, dealt out in equal blocks. They grow with the cube of their number, so that the last of four
// blocks is more than two processors can make good.
#include <omp.h>
#include "common.h"
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  uint64_t $sum = 0;
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : $sum)
#else
#pragma omp parallel for schedule(static) reduction(+ : $sum) // PLANTED: imbalance
#endif
  for (int i = 0; i < 600; i++)
    $sum += $work((uint64_t)i, (long)i * i * i / 180); // PLANTED: imbalance
  printf("%lu\n", (unsigned long)$sum);
}
