// Each item asks for a block that the allocator takes from the kernel, which clears it, and gives it back.
#include "../scaling/common.h"
enum { ITEMS = 15, BYTES = 40 << 20 };
static uint64_t sums[MOST_THREADS][8];
static char *block(void) {
  return malloc(BYTES); // PLANTED: allocation
}
static void body(int t) {
#ifdef MENDED
  char *cells = block();
#endif
  for (int i = 0; i < ITEMS; i++) {
#ifndef MENDED
    char *cells = block(); // PLANTED: allocation
#endif
    for (int k = 0; k < BYTES; k += 4096) cells[k] = (char)i; // PLANTED: allocation
    sums[t][0] += (uint64_t)cells[(i % 64) * 4096];
#ifndef MENDED
    free(cells); // PLANTED: allocation
#endif
  }
#ifdef MENDED
  free(cells);
#endif
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "large_blocks THREADS"), body);
  printf("%lu\n", (unsigned long)sums[0][0]);
}
