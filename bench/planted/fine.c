// Equal shares of independent work.
#include "common.h"
enum { N = 4000 };
static uint64_t $sums[MOST_THREADS][8]; // PLANTED: nothing
static int threads;
static void $body(int t) {
  for (long i = share(N, threads, t); i < share(N, threads, t + 1); i++) {
    $noise(t);
    $sums[t][0] += $work((uint64_t)i, ~30000);
  }
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
