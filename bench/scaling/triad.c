// The triad on arrays larger than the cache: memory bandwidth. `sweeps`: one after the other over all of them,
// `blocks`: all sweeps on what fits into a core's cache, then the next.
#include "common.h"

static const char *const USAGE = "triad THREADS [sweeps|blocks [CELLS [SWEEPS]]]";

enum { BLOCK = 8192 };
static double *a, *b, *c;

static void triad(long from, long to, long s) {
  double k = 1.0 / (double)(s + 2);
  for (long i = from; i < to; i++) a[i] = b[i] + k * (c[i] + a[i]);
}

int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, USAGE), fixed = variant(argc, argv, "sweeps", "blocks", USAGE);
  long cells = number(argc, argv, 3, 1, 8L << 20, USAGE), sweeps = number(argc, argv, 4, 1, 60, USAGE);
  int team = threads ? threads : 1;
  a = malloc(cells * sizeof *a), b = malloc(cells * sizeof *b), c = malloc(cells * sizeof *c);
  if (!a || !b || !c) return fprintf(stderr, "no memory for three arrays of %ld\n", cells), 1;
#pragma omp parallel for num_threads(team) if (threads > 0)
  for (long i = 0; i < cells; i++) a[i] = 0, b[i] = (double)(i & 255), c[i] = (double)(i & 127) / 2;
  long blocks = (cells + BLOCK - 1) / BLOCK;
  if (fixed) {
#pragma omp parallel for num_threads(team) if (threads > 0)
    for (long k = 0; k < blocks; k++)
      for (long s = 0; s < sweeps; s++) triad(k * BLOCK, k + 1 < blocks ? (k + 1) * BLOCK : cells, s);
  } else {
    for (long s = 0; s < sweeps; s++) {
#pragma omp parallel for num_threads(team) if (threads > 0)
      for (long k = 0; k < blocks; k++) triad(k * BLOCK, k + 1 < blocks ? (k + 1) * BLOCK : cells, s);
    }
  }
  // Bits, not values: their sum does not depend on the order.
  uint64_t sum = 0;
#pragma omp parallel for num_threads(team) reduction(+ : sum) if (threads > 0)
  for (long i = 0; i < cells; i++) {
    uint64_t bits;
    memcpy(&bits, &a[i], sizeof bits);
    sum += bits * (i % 3 + 1);
  }
  printf("%016lx\n", sum);
}
