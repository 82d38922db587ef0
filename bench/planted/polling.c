// Threads sleep until the next item is there; the twin waits for the signal.
#include <unistd.h>
#include "common.h"
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $changed = PTHREAD_COND_INITIALIZER;
static int $step, threads, $arrived;
static uint64_t $sums[MOST_THREADS][8];
static void $await(int step) {
  pthread_mutex_lock(&$lock);
  if (++$arrived == threads) {
    $arrived = 0, $step++;
    pthread_cond_broadcast(&$changed);
  }
  while ($step <= step) {
#ifdef MENDED
    pthread_cond_wait(&$changed, &$lock);
#else
    pthread_mutex_unlock(&$lock);
    usleep(~4000); // PLANTED: io
    pthread_mutex_lock(&$lock);
#endif
  }
  pthread_mutex_unlock(&$lock);
}
static void $body(int t) {
  for (int i = 0; i < 80; i++) {
    $sums[t][0] += $work((uint64_t)i, ~800000);
    $await(i); // PLANTED: io
  }
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
