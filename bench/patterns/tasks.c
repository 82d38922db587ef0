// A recursion by OpenMP tasks that do almost nothing: fib(argv[1]) makes one for each call.
#include <stdio.h>
#include <stdlib.h>

static long fib(int n) {
  long a, b;
  if (n < 2)
    return n;
#pragma omp task shared(a)
  a = fib(n - 1);
#pragma omp task shared(b)
  b = fib(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char **argv) {
  long sum = 0;
  int n = argc > 1 ? atoi(argv[1]) : 10;
#pragma omp parallel num_threads(2)
#pragma omp single
  sum = fib(n);
  printf("%ld\n", sum);
}
