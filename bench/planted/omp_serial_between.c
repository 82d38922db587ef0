// Serial code between the parallel loops of each step.
#include <omp.h>
#include "common.h"
static uint64_t $cells[256];
static void __attribute__((noinline)) $renumber(void) {
  for (int i = 0; i < 256; i++) $cells[i] = $work($cells[i], ~30000); // PLANTED: serial
}
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  for (int step = 0; step < 12; step++) {
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < 256; i++) $noise(omp_get_thread_num()), $cells[i] = $work($cells[i], ~20000);
#ifdef MENDED
#pragma omp parallel for schedule(dynamic, 8)
    for (int i = 0; i < 256; i++) $cells[i] = $work($cells[i], ~30000);
    if (step == 100) $renumber();
#else
    $renumber();
#endif
  }
  printf("%lu\n", (unsigned long)$cells[0]);
}
