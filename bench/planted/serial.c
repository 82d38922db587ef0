// A serial preparation before the parallel part.
#include "common.h"
enum { N = ~4000 };
static uint64_t $made[N], $sums[MOST_THREADS];
static int threads;
static __attribute__((noinline)) void $prepare(int t, int of) {
  for (long i = share(N, of, t); i < share(N, of, t + 1); i++)
    $made[i] = $work((uint64_t)i, ~20000); // PLANTED: serial
}
static void $body(int t) {
#ifdef MENDED
  $prepare(t, threads);
#endif
  for (long i = share(N, threads, t); i < share(N, threads, t + 1); i++) $noise(t), $sums[t] += $work($made[i], ~12000);
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
#ifndef MENDED
  $prepare(0, 1);
#endif
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0]);
}
