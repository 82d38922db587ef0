// Threads hand a turn round: what is done in turn is done by one at a time.
#include "common.h"
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $changed = PTHREAD_COND_INITIALIZER;
static int $turn, threads;
static uint64_t $sum;
#ifdef MENDED
static uint64_t $own[MOST_THREADS][8];
#endif
static void $wait_for_turn(int t) {
  pthread_mutex_lock(&$lock);
  while ($turn % threads != t) pthread_cond_wait(&$changed, &$lock);
  pthread_mutex_unlock(&$lock);
}
static void $pass_turn(void) {
  pthread_mutex_lock(&$lock);
  $turn++;
  pthread_cond_broadcast(&$changed);
  pthread_mutex_unlock(&$lock);
}
static void $body(int t) {
  for (int i = 0; i < 300; i++) {
#ifdef MENDED
    $own[t][0] += $work((uint64_t)i, ~200000);
#else
    $wait_for_turn(t); // PLANTED: handover
    $sum += $work((uint64_t)i, ~200000); // PLANTED: handover
    $pass_turn();
#endif
  }
#ifdef MENDED
  $wait_for_turn(t);
  $sum += $own[t][0];
  $pass_turn();
#endif
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sum);
}
