// All N iterations are alike, and each is a region of M like iterations: the span depends on neither number.
#include "steps.h"

volatile long n = N, m = M;

static void inner(long count) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < count; ++i) steps(20);
}

int main(void) {
  long count = n, each = m;
#pragma omp parallel for schedule(dynamic)
  for (long i = 0; i < count; ++i) inner(each);
  return 0;
}
