// Most of each iteration is in an ordered region.
#include <omp.h>
#include "common.h"
enum { N = 600 };
static uint64_t $each[N];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  uint64_t $sum = 0;
#ifdef MENDED
#pragma omp parallel for schedule(static, 1)
  for (int i = 0; i < N; i++) $each[i] = $work((uint64_t)i, ~210000);
  for (int i = 0; i < N; i++) $sum = $sum * 31 + $each[i];
#else
#pragma omp parallel for ordered schedule(static, 1)
  for (int i = 0; i < N; i++) {
    $each[i] = $work((uint64_t)i, ~10000);
#pragma omp ordered // PLANTED: handover
    $sum = $sum * 31 + $work($each[i], ~200000); // PLANTED: handover
  }
#endif
  printf("%lu\n", (unsigned long)$sum);
}
