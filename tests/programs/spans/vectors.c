// A loop that becomes one over vectors: each is an iteration, and its sum is right.
#include <stdio.h>

static double a[1000];
volatile long n = 1000;

int main(void) {
  long count = n;
  double sum = 0;
  for (long i = 0; i < count; ++i) a[i] = (double)i;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < count; ++i) {
    a[i] = 2 * a[i] + 1;
    sum += a[i];
  }
  printf("%.0f\n", sum);
  return sum != 1000000;
}
