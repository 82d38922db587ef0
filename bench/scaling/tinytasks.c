// Scheduling overhead. `tiny`: a task for every item, `coarse`: one for 1000.
#include "common.h"

static const char *const USAGE = "tinytasks THREADS [tiny|coarse [ITEMS [ROUNDS]]]";

int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, USAGE);
  long grain = variant(argc, argv, "tiny", "coarse", USAGE) ? 1000 : 1;
  long items = number(argc, argv, 3, 1, 2000000, USAGE), rounds = number(argc, argv, 4, 1, 100, USAGE);
  uint64_t *values = calloc(items, sizeof *values), sum = 0;
  if (!values) return fprintf(stderr, "no memory for %ld items\n", items), 1;
  if (threads) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    for (long from = 0; from < items; from += grain) {
#pragma omp task firstprivate(from)
      for (long i = from; i < from + grain && i < items; i++) values[i] = work(i, rounds);
    }
  } else {
    for (long i = 0; i < items; i++) values[i] = work(i, rounds);
  }
  for (long i = 0; i < items; i++) sum += values[i];
  printf("%016lx\n", sum);
}
