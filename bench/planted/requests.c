// A thread for each piece of work, however short.
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
enum { REQUESTS = 6000 };
static int threads;
static void $serve(int t) {
#ifdef MENDED
  for (int i = 0; i < REQUESTS; i++)
#endif
    $sums[t][0] += $work($sums[t][0] + (uint64_t)t, ~8000);
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
#ifndef MENDED
  for (int i = 0; i < REQUESTS; i++)
#endif
    team(threads, $serve); // PLANTED: starting, scheduling
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
