// Each of 8 iterations does 100 steps, and 5 in the order of the iterations: the span has the 5 of all.
#include "steps.h"

volatile long n = 8;

__attribute__((noinline, weak)) void in_order(long k) { steps(k); }

int main(void) {
  long count = n;
#pragma omp parallel for ordered
  for (long i = 0; i < count; ++i) {
    steps(100);
#pragma omp ordered
    in_order(5);
  }
  return 0;
}
