// Figure 1 of the Cilkprof paper: quicksort whose serial partition holds the parallelism back.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

enum { COARSENING = 32 };
#ifndef N
#define N 20000
#endif
static unsigned long state = 88172645463325252ul;

static int random_below(int bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (int)((state >> 33) % (unsigned)bound);
}

__attribute__((noinline)) static int partition(long array[], int low, int high) {
  long pivot = array[low + (high - low) / 2];
  int l = low - 1, r = high;
  for (;;) {
    do ++l; while (array[l] < pivot);
    do --r; while (array[r] > pivot);
    if (l >= r) return l == low ? l + 1 : l;
    long tmp = array[l];
    array[l] = array[r];
    array[r] = tmp;
  }
}

static void pqsort(long array[], int low, int high) {
  if (high - low < COARSENING) {
    for (int i = low + 1; i < high; i++) {
      long x = array[i];
      int j = i;
      for (; j > low && array[j - 1] > x; j--) array[j] = array[j - 1];
      array[j] = x;
    }
    return;
  }
  int part = partition(array, low, high);
  cilk_spawn(pqsort, array, low, part);
  pqsort(array, part, high);
  cilk_sync;
}

int main(void) {
  long *a = malloc(N * sizeof *a), sum = 0, check = 0;
  for (int i = 0; i < N; i++) sum += a[i] = random_below(1 << 30);
  cilk_run(pqsort, a, 0, N);
  int sorted = 1;
  for (int i = 0; i < N; i++) check += a[i], sorted &= i == 0 || a[i - 1] <= a[i];
  printf("%d %d\n", sorted, sum == check);
  free(a);
  return !(sorted && sum == check);
}
