// Each access takes a reader-writer lock for writing.
#include "common.h"
static pthread_rwlock_t $lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t $table[512], $found[MOST_THREADS][8];
static void $body(int t) {
  for (int i = 0; i < 400; i++) {
#ifdef MENDED
    pthread_rwlock_rdlock(&$lock);
#else
    pthread_rwlock_wrlock(&$lock); // PLANTED: lock
#endif
    $found[t][0] += $work($table[i], ~150000); // PLANTED: lock
    pthread_rwlock_unlock(&$lock);
    $noise(t);
  }
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$found[0][0]);
}
