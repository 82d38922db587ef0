// A tree of untied tasks that do next to nothing.
#include <stdio.h>
#include <stdlib.h>
static int nodes(int depth) {
  int a = 0, b = 0;
  if (depth == 0)
    return 1;
#pragma omp task untied shared(a)
  a = nodes(depth - 1);
#pragma omp task untied shared(b)
  b = nodes(depth - 1);
#pragma omp taskwait
  return a + b + 1;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, sum = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long r = 0; r < reps; r++)
    sum += nodes(9);
  printf("%ld\n", sum);
}
