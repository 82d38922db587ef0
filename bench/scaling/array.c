// The array microbenchmark (work-inflation, section 4): L additions to each of M cells, G cells apart, R times over.
#include "common.h"

static const char *const USAGE = "array THREADS [M [L [G [R]]]] (G divides M)";

enum { GRAIN = 1000 };

// The cells numbered from..to; number i is at (iG + iG / M) mod M.
__attribute__((noinline)) // the same code with any number of threads
static void process(int64_t *cells, long m, long l, long g, long from, long to) {
  long at = (from * g + from * g / m) % m;
  for (long i = from; i < to; i++) {
    int64_t value = cells[at], sum = value;
    for (long k = 0; k < l; k++) {
      sum += value;
      __asm__("" : "+r"(sum)); // else it were one multiplication
    }
    cells[at] = sum;
    at += g;
    if (at >= m) at -= m - 1;
  }
}

int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, USAGE);
  long m = number(argc, argv, 2, 1, 8L << 20, USAGE), l = number(argc, argv, 3, 0, 1, USAGE);
  long g = number(argc, argv, 4, 1, 32, USAGE);
  long r = number(argc, argv, 5, 1, m < 64L << 20 ? (64L << 20) / m : 1, USAGE);
  if (m % g) usage(USAGE);
  int64_t *cells = malloc(m * sizeof *cells);
  if (!cells) return fprintf(stderr, "no memory for %ld cells\n", m), 1;
  int team = threads ? threads : 1;
  uint64_t sum = 0;
#pragma omp parallel for num_threads(team) if (threads > 1)
  for (long i = 0; i < m; i++) cells[i] = i & 1023;
  for (long k = 0; k < r; k++) {
    if (threads == 0) {
      process(cells, m, l, g, 0, m);
      continue;
    }
    long groups = (m + GRAIN - 1) / GRAIN;
#pragma omp parallel for num_threads(threads) schedule(static) // the same part of the array to the same thread, each time
    for (long c = 0; c < groups; c++) process(cells, m, l, g, c * GRAIN, c + 1 < groups ? (c + 1) * GRAIN : m);
  }
#pragma omp parallel for num_threads(team) reduction(+ : sum) if (threads > 1)
  for (long i = 0; i < m; i++) sum += (uint64_t)cells[i] * (i % 7 + 1);
  printf("%016lx\n", sum);
  free(cells);
}
