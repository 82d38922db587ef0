// Monte-Carlo pricing of a few swaptions (deconstructing-overhead, section V). `chunks`: the last thread takes all that
// items / threads leaves over, as in PARSEC. `even`: blocks of trials are handed out as threads become free.
#include "common.h"
#include <math.h>
#include <stdatomic.h>

static const char *const USAGE = "swaptions THREADS [chunks|even [ITEMS [TRIALS]]]";

enum { BLOCKS = 64, STEPS = 16 };
static int threads, even;
static long items, trials;
static double (*sums)[BLOCKS];
static atomic_long next;

// One block of an item's trials: paths of the swap rate in STEPS steps, and what the right to swap is worth then.
static double simulate(long item, long block) {
  uint64_t at = ((uint64_t)item * BLOCKS + block) << 32;
  double sum = 0;
  for (long i = block * trials / BLOCKS; i < (block + 1) * trials / BLOCKS; i++) {
    double rate = 0.05;
    for (int s = 0; s < STEPS; s++) {
      uint64_t x = random_at(at++);
      // Four uniform ones make a nearly normal one.
      double z = (double)((x & 65535) + (x >> 16 & 65535) + (x >> 32 & 65535) + (x >> 48)) / 65536 - 2;
      rate *= 1 + 0.05 * z;
    }
    double strike = 0.045 + 0.001 * (double)(item % 8);
    if (rate > strike) sum += (rate - strike) * exp(-rate * 5);
  }
  return sum;
}

static void body(int t) {
  if (even) {
    for (long i; (i = atomic_fetch_add(&next, 1)) < items * BLOCKS;) sums[i / BLOCKS][i % BLOCKS] = simulate(i / BLOCKS, i % BLOCKS);
    return;
  }
  long chunk = items / threads, begin = t * chunk, end = (t + 1) * chunk;
  if (t == threads - 1) end = items;
  for (long i = begin; i < end; i++)
    for (long b = 0; b < BLOCKS; b++) sums[i][b] = simulate(i, b);
}

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  even = variant(argc, argv, "chunks", "even", USAGE);
  items = number(argc, argv, 3, 1, 5, USAGE);
  trials = number(argc, argv, 4, 1, 1500000, USAGE);
  sums = calloc(items, sizeof *sums);
  if (!sums) return fprintf(stderr, "no memory for %ld items\n", items), 1;
  if (threads) {
    team(threads, body);
  } else {
    for (long i = 0; i < items * BLOCKS; i++) sums[i / BLOCKS][i % BLOCKS] = simulate(i / BLOCKS, i % BLOCKS);
  }
  for (long i = 0; i < items; i++) {
    double sum = 0;
    for (int b = 0; b < BLOCKS; b++) sum += sums[i][b];
    printf("%.12f\n", sum / (double)trials);
  }
  free(sums);
}
