// Figure 5 of the Cilkprof paper: Fibonacci numbers by recursion.
#include <contech/cilk.h>
#include <stdio.h>

static long fib(int n) {
  if (n < 2) return n;
  long x, y;
  cilk_spawn_to(x, fib, n - 1);
  y = fib(n - 2);
  cilk_sync;
  return x + y;
}

int main(void) {
  long result;
  cilk_run_to(result, fib, 16);
  printf("%ld\n", result);
  return result != 987;
}
