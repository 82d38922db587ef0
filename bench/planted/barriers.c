// A barrier after every few microseconds of work.
#include "common.h"
static pthread_barrier_t $barrier;
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
#ifdef MENDED
  enum { STEPS = 20, ROUNDS = ~2000000 };
#else
  enum { STEPS = ~10000, ROUNDS = ~4000 };
#endif
  for (int i = 0; i < STEPS; i++) {
    $sums[t][0] += $work((uint64_t)i, ROUNDS);
    pthread_barrier_wait(&$barrier); // PLANTED: barrier
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  pthread_barrier_init(&$barrier, NULL, (unsigned)threads);
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
