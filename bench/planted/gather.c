// Random reads of a table that no cache holds.
#include "common.h"
#ifdef MENDED
enum { N = 1 << 11 };
#else
enum { N = 1 << 23 };
#endif
static uint64_t $table[N], $sums[MOST_THREADS][8];
static void $body(int t) {
  uint64_t $sum = 0;
  for (uint64_t i = 0; i < ~3000000; i++)
    $sum += $table[random_at(i * MOST_THREADS + (uint64_t)t) % N]; // PLANTED: cache
  $sums[t][0] = $sum;
}
static void $fill(void) {
  for (uint64_t i = 0; i < N; i += 4096) $table[i] = i;
}
int main(int argc, char **argv) {
  $fill();
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
