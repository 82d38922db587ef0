// Four times as many threads as processors, and who waits at the barrier of the program's own spins.
#include <stdatomic.h>
#include <unistd.h>
#include "common.h"
#ifdef MENDED
enum { EACH = 1 };
#else
enum { EACH = 4 };
#endif
enum { STEPS = ~40 };
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
  while (atomic_load(&$generation) == before) { // PLANTED: spinning
  }
}
static void $body(int t) {
  for (int step = 0; step < STEPS; step++) {
    $sums[t][0] = $work($sums[t][0] + (uint64_t)t, ~600000 * 2 / threads);
    $meet(); // PLANTED: spinning
  }
}
int main(int argc, char **argv) {
  (void)thread_count(argc, argv, "THREADS");
  threads = (int)sysconf(_SC_NPROCESSORS_ONLN) * EACH;
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
