// A parallel loop with its body in place: n indices of equal work in grains of g, each executed once.
#include <contech/cilk.h>
#include <cstdio>
#include <cstdlib>

static char seen[1 << 12];

extern "C" __attribute__((noinline)) void step(long i) { seen[i]++; }

extern "C" __attribute__((noinline)) void loop(long n, long grain) {
  long first = 1;
  cilk_for(long, i, -1, n - 1, grain)
    step(i + first);
  cilk_end_for
}

int main(int argc, char **argv) {
  long n = argc > 1 ? std::atol(argv[1]) : 100, grain = argc > 2 ? std::atol(argv[2]) : 8, once = 0;
  if (n > 1 << 12) return 2;
  cilk_run(loop, n, grain);
  for (long i = 0; i < 1 << 12; i++) once += seen[i] == (i < n);
  std::printf("%ld\n", once);
  return once != 1 << 12;
}
