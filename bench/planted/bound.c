// Each thread binds itself to a processor, and most of them to the same one.
#define _GNU_SOURCE
#include <sched.h>
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
static void $bind(int t) {
  cpu_set_t $set;
  CPU_ZERO(&$set);
#ifdef MENDED
  CPU_SET(t % 2, &$set);
#else
  CPU_SET(t / MOST_THREADS, &$set);
#endif
  sched_setaffinity(0, sizeof $set, &$set); // PLANTED: bound
}
static void $body(int t) {
  $bind(t);
  for (int i = 0; i < 200; i++) $sums[t][0] += $work((uint64_t)(t + i), ~300000);
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
