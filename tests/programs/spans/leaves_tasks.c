// A function creates tasks and returns, and its caller works on and waits for them: the span is that of tasks and work
// side by side.
#include <stdlib.h>

__attribute__((noinline)) static void leaf(volatile long *p, long k) {
  for (long i = 0; i < k; i++) p[0] = i;
}

__attribute__((noinline)) static void leave(volatile long *p, long n) {
  for (long i = 1; i <= n; i++) {
#pragma omp task
    leaf(p + i, 100 * i);
  }
}

__attribute__((noinline)) static void both(volatile long *p, long own) {
  leave(p, 10);
  leaf(p, own);
#pragma omp taskwait
}

int main(void) {
  volatile long *p = calloc(1 << 10, sizeof *p);
#pragma omp parallel
#pragma omp single
  {
    both(p, 200);
    both(p, 3000);
  }
}
