// Equal work between few barriers.
#include "common.h"
static pthread_barrier_t $line; // PLANTED: nothing
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
  for (int i = 0; i < 30; i++) {
    for (int k = 0; k < 40; k++) $noise(t), $sums[t][0] += $work((uint64_t)k, ~60000);
    pthread_barrier_wait(&$line);
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  pthread_barrier_init(&$line, NULL, (unsigned)threads);
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
