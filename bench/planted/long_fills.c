// Each item clears memory that is larger than the nearest cache; the twin clears a part of it as often.
#include "common.h"
enum { ITEMS = 6000, BYTES = 1 << 20, PART = 1 << 14 };
static char $cells[MOST_THREADS][BYTES];
static uint64_t $sums[MOST_THREADS][8];
static char $clear(char *from, int i, size_t bytes) {
  memset(from, i, bytes); // PLANTED: cache
  return *(volatile char *)from;
}
static void $body(int t) {
  for (int i = 0; i < ITEMS; i++) {
#ifdef MENDED
    for (int at = 0; at < BYTES; at += PART) $sums[t][0] += (uint64_t)$clear($cells[t], i, PART);
#else
    $sums[t][0] += (uint64_t)$clear($cells[t], i, BYTES); // PLANTED: cache
#endif
  }
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
