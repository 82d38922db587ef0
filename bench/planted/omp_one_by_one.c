// Threads fetch iterations one by one that are over in nanoseconds.
#include <omp.h>
#include "common.h"
enum { N = ~1000000 };
static uint64_t $cells[N];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, ~10000)
#else
#pragma omp parallel for schedule(dynamic, 1) // PLANTED: scheduling
#endif
  for (int i = 0; i < N; i++)
    $cells[i] = $work((uint64_t)i, 4); // PLANTED: scheduling
  printf("%lu\n", (unsigned long)$cells[N / 2]);
}
