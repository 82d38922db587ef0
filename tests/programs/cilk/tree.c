// A perfect binary recursion: the number of leaves.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

static long leaves(int depth) {
  if (depth == 0) return 1;
  long x, y;
  cilk_spawn_to(x, leaves, depth - 1);
  cilk_spawn_to(y, leaves, depth - 1);
  cilk_sync;
  return x + y;
}

int main(int argc, char **argv) {
  int depth = argc > 1 ? atoi(argv[1]) : 8;
  long result;
  cilk_run_to(result, leaves, depth);
  printf("%ld\n", result);
  return result != 1l << depth;
}
