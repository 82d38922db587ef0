// A taskwait waits for the tasks that its callers created, too, as they are all children of one task: work and span are
// those of tasks whose waits do not nest like the functions.
#include <stdlib.h>

__attribute__((noinline)) static void leaf(volatile long *p, long k) {
  for (long i = 0; i < k; i++) p[0] = i;
}

__attribute__((noinline)) static void split(volatile long *p, long n) {
  if (n < 4) {
    leaf(p, 1000);
    return;
  }
#pragma omp task
  split(p + 8, n / 4);
  split(p + 16, n - n / 4);
#pragma omp taskwait
}

int main(void) {
  volatile long *p = calloc(1 << 20, sizeof *p);
#pragma omp parallel
#pragma omp single
  split(p, N);
}
