// A parallel region for every few microseconds of work; the twin has one region of many.
#include <omp.h>
#include "common.h"
enum { N = 64 };
static uint64_t $cells[N];
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
#ifdef MENDED
#pragma omp parallel for schedule(static)
  for (int i = 0; i < N; i++)
    for (int step = 0; step < 9000; step++) $cells[i] = $work($cells[i], ~30);
#else
  for (int step = 0; step < 9000; step++) {
#pragma omp parallel for schedule(static) // PLANTED: scheduling, barrier, starting
    for (int i = 0; i < N; i++) $cells[i] = $work($cells[i], ~30); // PLANTED: scheduling, barrier, starting
  }
#endif
  printf("%lu\n", (unsigned long)$cells[0]);
}
