// The last thread has most of the work.
#include "common.h"
static uint64_t $sums[MOST_THREADS];
static int threads;
static void $body(int t) {
#ifdef MENDED
  long rounds = ~20000000 + ~100000000 / threads;
#else
  long rounds = t == threads - 1 ? ~120000000 : ~20000000;
#endif
  $sums[t] = $work((uint64_t)t, rounds); // PLANTED: imbalance
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0]);
}
