// Two tasks, each with a region of a loop: the tasks are parallel, and so are the iterations.
#include "steps.h"

volatile long n = 8;

void loop(long count, long each) {
#pragma omp parallel for
  for (long i = 0; i < count; ++i) steps(each);
}

int main(void) {
  long count = n;
#pragma omp parallel
#pragma omp single
  {
#pragma omp task
    loop(count, 30);
#pragma omp task
    loop(count, 50);
#pragma omp taskwait
  }
  return 0;
}
