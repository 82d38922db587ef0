// Figure 5 of the Cilkprof paper: Fibonacci numbers by recursion.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

static long fib(int n) {
  if (n < 2) return n;
  long x, y;
  cilk_spawn_to(x, fib, n - 1);
  y = fib(n - 2);
  cilk_sync;
  return x + y;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 16;
  long result, a = 0, b = 1;
  cilk_run_to(result, fib, n);
  for (int i = 0; i < n; i++) {
    long next = a + b;
    a = b;
    b = next;
  }
  printf("%ld\n", result);
  return result != a;
}
