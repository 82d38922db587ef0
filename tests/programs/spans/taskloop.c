// A taskloop of 12 iterations in tasks of 3: the span has one of the tasks. The same with a condition that is false.
#include "steps.h"

volatile long n = 12;
volatile int condition = CONDITION;

int main(void) {
  long count = n;
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(3) if (condition)
  for (long i = 0; i < count; ++i) steps(10);
  return 0;
}
