// A parallel loop with its body in a function: n indices of equal work in grains of g, each executed once.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

static char seen[1 << 12];

static __attribute__((noinline)) void step(long i) { seen[i]++; }

static void grain_of(long low, long high, void *context) {
  for (long i = low; i < high; i++) step(i + *(long *)context);
}

__attribute__((noinline)) void loop(long n, long grain) {
  long first = 1;
  cilk_for_range(grain_of, -1, n - 1, grain, &first);
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 100, grain = argc > 2 ? atol(argv[2]) : 8, once = 0;
  if (n > 1 << 12) return 2;
  cilk_run(loop, n, grain);
  for (long i = 0; i < 1 << 12; i++) once += seen[i] == (i < n);
  printf("%ld\n", once);
  return once != 1 << 12;
}
