// Sections of 10, 50 and 20 steps: the span has the 50.
#include "steps.h"

int main(void) {
#pragma omp parallel sections
  {
#pragma omp section
    steps(10);
#pragma omp section
    steps(50);
#pragma omp section
    steps(20);
  }
  return 0;
}
