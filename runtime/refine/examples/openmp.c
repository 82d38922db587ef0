// Partition refinement around an OpenMP loop in C: a triangle's rows, of which the first are the longest.
#include <contech/refine.h>
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>

enum { ROWS = 2000, ROUNDS = 100 };

// The work of a row: longer, the earlier it is.
static uint64_t row(uint64_t i) {
  uint64_t x = i;
  for (uint64_t k = i; k < ROWS; k++) x = (x ^ k) * 0x9e3779b97f4a7c15u;
  return x;
}

int main(void) {
  struct contech_refine *refine = contech_refine_create(ROWS, (uint32_t)omp_get_max_threads(), 1);
  uint64_t sum = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t size = contech_refine_round_begin(refine);
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (uint64_t from = 0; from < ROWS; from += size) {
      contech_refine_part_begin(refine, (uint32_t)omp_get_thread_num(), 0);
      for (uint64_t i = from; i < from + size && i < ROWS; i++) sum += row(i);
      contech_refine_part_end(refine, (uint32_t)omp_get_thread_num());
    }
    contech_refine_round_end(refine);
    if (round % 10 == 0)
      fprintf(stderr, "round %d: parts of %" PRIu64 ", scheduling %.1f%%, imbalance %.1f%%\n", round, size,
              100 * contech_refine_scheduling(refine), 100 * contech_refine_imbalance(refine));
  }
  contech_refine_destroy(refine);
  printf("%016" PRIx64 "\n", sum);
}
