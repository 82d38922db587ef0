// Counters of different threads in one cache line.
#include "common.h"
#ifdef MENDED
enum { APART = 16 };
#else
enum { APART = 1 };
#endif
static volatile uint64_t $counters[MOST_THREADS * 16];
static void $body(int t) {
  for (long i = 0; i < ~40000000; i++) $counters[t * APART] += (uint64_t)i; // PLANTED: sharing
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$counters[0]);
}
