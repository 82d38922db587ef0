// Tasks that depend on each other one by one; the twin's depend on those of their own row only.
#include <omp.h>
#include "common.h"
enum { ROWS = 8, STEPS = 12 };
static uint64_t $cells[ROWS];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#pragma omp parallel
#pragma omp single
  for (int step = 0; step < STEPS; step++)
    for (int row = 0; row < ROWS; row++) {
#ifdef MENDED
      int at = row;
#else
      int at = 0;
#endif
#pragma omp task depend(inout : $cells[at]) firstprivate(at) // PLANTED: serial, handover
      $cells[at] = $work($cells[at] + (uint64_t)at, ~1200000); // PLANTED: serial, handover
    }
  printf("%lu\n", (unsigned long)$cells[0]);
}
