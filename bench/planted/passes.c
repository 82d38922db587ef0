// Pass after pass over more than a cache holds; the twin makes all passes over a part before the next part.
#include "common.h"
enum { N = 1 << 22, PASSES = 60, PART = 1 << 12 };
static uint64_t $cells[N], $sums[MOST_THREADS][8];
static int threads;
static void $pass(long from, long to, uint64_t *$sum) {
  for (long i = from; i < to; i += 8) *$sum += $cells[i] ^ (uint64_t)i; // PLANTED: cache
}
static void $body(int t) {
  long from = share(N / PART, threads, t) * PART, to = share(N / PART, threads, t + 1) * PART;
  uint64_t $sum = 0;
  for (long i = from; i < to; i++) $cells[i] = (uint64_t)i;
#ifdef MENDED
  for (long part = from; part < to; part += PART)
    for (int k = 0; k < PASSES; k++) $pass(part, part + PART, &$sum);
#else
  for (int k = 0; k < PASSES; k++) $pass(from, to, &$sum);
#endif
  $sums[t][0] = $sum;
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
