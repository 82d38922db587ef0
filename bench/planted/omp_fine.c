// A loop of equal iterations, and a sum.
#include <omp.h>
#include "common.h"
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  uint64_t $sum = 0;
  for (int step = 0; step < 6; step++) {
#pragma omp parallel for reduction(+ : $sum) schedule([[static||dynamic, 8||guided]]) // PLANTED: nothing
    for (int i = 0; i < 1000; i++) $noise(omp_get_thread_num()), $sum += $work((uint64_t)i, ~20000);
  }
  printf("%lu\n", (unsigned long)$sum);
}
