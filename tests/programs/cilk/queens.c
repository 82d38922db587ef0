// n-queens with bit masks: an invocation's operations depend on the number of its children only, so that work and span
// have closed recurrences.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned all;

static long place(unsigned columns, unsigned left, unsigned right) {
  if (columns == all) return 1;
  long found[32], sum = 0;
  int children = 0;
  for (unsigned free = all & ~(columns | left | right); free; free &= free - 1) {
    unsigned bit = free & -free;
    cilk_spawn_to(found[children], place, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    children++;
  }
  cilk_sync;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int i = 0; i < children; i++) sum += found[i];
  return sum;
}

int main(int argc, char **argv) {
  static const long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724};
  int n = argc > 1 ? atoi(argv[1]) : 6;
  all = (1u << n) - 1;
  long solutions;
  cilk_run_to(solutions, place, 0, 0, 0);
  printf("%ld\n", solutions);
  return solutions != known[n];
}
