// Every iteration adds to one variable that all threads share.
#include <omp.h>
#include "common.h"
enum { N = ~100000000 };
int main(int argc, char **argv) {
  omp_set_num_threads(thread_count(argc, argv, "THREADS"));
  uint64_t $sum = 0;
#ifdef MENDED
#pragma omp parallel for reduction(+ : $sum)
#else
#pragma omp parallel for
#endif
  for (int i = 0; i < N; i++) {
    uint64_t one = $work((uint64_t)i, 2);
#ifndef MENDED
#pragma omp atomic // PLANTED: sharing
#endif
    $sum += one; // PLANTED: sharing
  }
  printf("%lu\n", (unsigned long)$sum);
}
