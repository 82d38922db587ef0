// Iterations that are not executed to their end: by an exception caught within them, and by a cancellation of the loop
// (OMP_CANCELLATION) in the fourth of 8.
#include "steps.h"

volatile long n = 8;

__attribute__((noinline, weak)) void thrower(long i) {
  steps(10);
  if (i & 1) throw i;
}

int main() {
  long count = n, caught = 0;
#pragma omp parallel for reduction(+ : caught)
  for (long i = 0; i < count; ++i) {
    try {
      thrower(i);
    } catch (long) {
      steps(50);
      ++caught;
    }
  }
#pragma omp parallel for
  for (long i = 0; i < count; ++i) {
    steps(20);
    if (i == 3) {
#pragma omp cancel for
    }
  }
  return caught != 4;
}
