// Iterations that grow, dealt out in equal blocks.
#include <omp.h>
#include "../scaling/common.h"
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "omp_triangle THREADS"));
  uint64_t sum = 0;
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum)
#else
#pragma omp parallel for schedule(static) reduction(+ : sum) // PLANTED: imbalance
#endif
  for (int i = 0; i < 600; i++)
    sum += work((uint64_t)i, (long)i * 1000); // PLANTED: imbalance
  printf("%lu\n", (unsigned long)sum);
}
