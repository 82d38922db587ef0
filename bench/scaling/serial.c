// A serial section in every round (Amdahl). `serial`: the weights are made by one thread, `parallel`: by all.
#include "common.h"

static const char *const USAGE = "serial THREADS [serial|parallel [ROUNDS [CELLS]]]";

int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, USAGE), fixed = variant(argc, argv, "serial", "parallel", USAGE);
  long rounds = number(argc, argv, 3, 1, 40, USAGE), cells = number(argc, argv, 4, 1, 20000, USAGE);
  uint64_t *weights = malloc(cells * sizeof *weights), *values = malloc(cells * sizeof *values), sum = 0;
  if (!weights || !values) return fprintf(stderr, "no memory for %ld cells\n", cells), 1;
  int team = threads ? threads : 1;
  for (long i = 0; i < cells; i++) values[i] = i;
  for (long r = 0; r < rounds; r++) {
#pragma omp parallel for num_threads(team) if (threads > 0 && fixed)
    for (long i = 0; i < cells; i++) weights[i] = work(i + r, 100);
#pragma omp parallel for num_threads(team) if (threads > 0)
    for (long i = 0; i < cells; i++) values[i] = work(values[i] ^ weights[i], 200);
  }
  for (long i = 0; i < cells; i++) sum += values[i];
  printf("%016lx\n", sum);
}
