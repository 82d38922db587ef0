// Loops that the compiler replaces by one call each, which fills or copies 64 MB.
#include <stdio.h>

enum { N = 1 << 23 };
static double from[N], to[N];
volatile long n = N;

int main(void) {
  long count = n;
#pragma omp parallel for
  for (long i = 0; i < count; ++i) from[i] = 0;
#pragma omp parallel for schedule(static, 65536)
  for (long i = 0; i < count; ++i) to[i] = from[i];
  return to[N / 2] != 0;
}
