// Threads meet at a barrier of the program's own, and the last thread has most of the work.
#include <stdatomic.h>
#include "common.h"
enum { STEPS = 20, ALL = ~6000000 };
static uint64_t $sums[MOST_THREADS][8];
static atomic_int $arrived, $generation;
static int threads;
static void $meet(void) {
  int before = atomic_load(&$generation);
  if (atomic_fetch_add(&$arrived, 1) == threads - 1) {
    atomic_store(&$arrived, 0);
    atomic_store(&$generation, before + 1);
    return;
  }
  while (atomic_load(&$generation) == before) {
  }
}
static void $body(int t) {
#ifdef MENDED
  long rounds = ~1000000 + ~5000000 / threads;
#else
  long rounds = t == threads - 1 ? ~6000000 : ~1000000;
#endif
  for (int step = 0; step < STEPS; step++) {
    $sums[t][0] = $work($sums[t][0] + (uint64_t)t, rounds); // PLANTED: imbalance
    $meet();
  }
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
