// One lock around most of the work.
#include "common.h"
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t $sum, $own[MOST_THREADS][8];
static void $body(int t) {
  for (int i = 0; i < 300; i++) {
#ifdef MENDED
    uint64_t x = $work((uint64_t)(t + i), ~200000);
    pthread_mutex_lock(&$lock);
    $sum += x;
#else
    pthread_mutex_lock(&$lock); // PLANTED: lock
    $sum += $work((uint64_t)(t + i), ~200000); // PLANTED: lock
#endif
    pthread_mutex_unlock(&$lock);
    $noise(t);
    $own[t][0] = $work($own[t][0], ~20000);
  }
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)($sum + $own[0][0]));
}
