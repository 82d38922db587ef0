// Each item asks for a block that the allocator takes from the kernel, which clears it, and gives it back. In the twin
// each thread has one, and all are there before the threads begin: which of these run together does not matter.
#include "common.h"
enum { ITEMS = 15, BYTES = 40 << 20 };
static uint64_t $sums[MOST_THREADS][8];
static char *$block(void) {
  return malloc(BYTES); // PLANTED: allocation
}
#ifdef MENDED
static char *$blocks[MOST_THREADS];
#endif
static void $body(int t) {
#ifdef MENDED
  char *$cells = $blocks[t];
#endif
  for (int i = 0; i < ITEMS; i++) {
#ifndef MENDED
    char *$cells = $block(); // PLANTED: allocation
#endif
    for (int k = 0; k < BYTES; k += 4096) $cells[k] = (char)i; // PLANTED: allocation
    $sums[t][0] += (uint64_t)$cells[(i % 64) * 4096];
#ifndef MENDED
    free($cells); // PLANTED: allocation
#endif
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
#ifdef MENDED
  for (int t = 0; t < threads; t++) $blocks[t] = $block();
#endif
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
