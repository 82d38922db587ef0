// A task for less than a microsecond of work.
#include <omp.h>
#include "common.h"
#ifdef MENDED
enum { TASKS = 300, ROUNDS = ~33333 };
#else
enum { TASKS = ~100000, ROUNDS = 100 };
#endif
static uint64_t $sums[1024];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#pragma omp parallel
#pragma omp single
  for (int i = 0; i < TASKS; i++) {
#pragma omp task // PLANTED: scheduling
    $sums[i % 1024] = $work((uint64_t)i, ROUNDS); // PLANTED: scheduling
  }
  printf("%lu\n", (unsigned long)$sums[0]);
}
