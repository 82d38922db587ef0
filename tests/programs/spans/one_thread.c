// Loops that one thread executes in any run: outside of parallel regions, and in one whose if clause is false. In that
// one there is a region that is parallel again (8 iterations).
#include "steps.h"

volatile long n = 8;
volatile int no = 0;

void shared(long count) {
#pragma omp for
  for (long i = 0; i < count; ++i) steps(10);
}

int main(void) {
  long count = n;
  shared(count);
#pragma omp parallel if (no)
  {
    shared(count);
#pragma omp parallel for
    for (long i = 0; i < count; ++i) steps(100);
  }
  return 0;
}
