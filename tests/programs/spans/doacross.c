// Each of 8 iterations waits for the one before: which could run in parallel is not known.
#include "steps.h"

volatile long n = 8;

int main(void) {
  long count = n;
#pragma omp parallel for ordered(1)
  for (long i = 0; i < count; ++i) {
#pragma omp ordered depend(sink : i - 1)
    steps(10);
#pragma omp ordered depend(source)
  }
  return 0;
}
