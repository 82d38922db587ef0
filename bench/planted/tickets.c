// Each item's number comes from one atomic counter; the twin takes numbers in blocks.
#include <stdatomic.h>
#include "common.h"
static atomic_long $next;
static uint64_t $sums[MOST_THREADS][8];
enum { N = 6000000 };
#ifdef MENDED
enum { BLOCK = 1000 };
#else
enum { BLOCK = 1 };
#endif
static long $draw(void) {
  return atomic_fetch_add(&$next, BLOCK); // PLANTED: sharing, locking
}
static void $body(int t) {
  long at;
  while ((at = $draw()) < N) // PLANTED: sharing, locking
    for (long i = at; i < at + BLOCK; i++) $sums[t][0] += $work((uint64_t)i, 6);
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
