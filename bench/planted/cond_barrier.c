// Threads meet at a barrier made of a mutex, a counter and a condition, and one has most of the work.
#include "common.h"
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $changed = PTHREAD_COND_INITIALIZER;
static int $arrived, $round, threads;
static uint64_t $sums[MOST_THREADS][8];
static void $meet(void) {
  pthread_mutex_lock(&$lock);
  int before = $round;
  if (++$arrived == threads) {
    $arrived = 0, $round++;
    pthread_cond_broadcast(&$changed);
  }
  while ($round == before) pthread_cond_wait(&$changed, &$lock);
  pthread_mutex_unlock(&$lock);
}
static void $body(int t) {
#ifdef MENDED
  long rounds = ~1000000 + ~6000000 / threads;
#else
  long rounds = ~1000000 + (t == 0 ? ~6000000 : 0);
#endif
  for (int step = 0; step < 20; step++) {
    $sums[t][0] = $work($sums[t][0] + (uint64_t)t, rounds); // PLANTED: imbalance
    $noise(t);
    $meet(); // PLANTED: imbalance
  }
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
