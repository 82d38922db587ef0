// Recursive quicksort of 100000 integers, insertion sort below 16.
#include <stdio.h>
#include <stdlib.h>
static int a[100000];
static void sort(int *lo, int *hi) {
  while (hi - lo > 16) {
    int pivot = lo[(hi - lo) / 2], *i = lo, *k = hi - 1;
    for (;;) {
      while (*i < pivot) i++;
      while (*k > pivot) k--;
      if (i >= k) break;
      int t = *i;
      *i++ = *k;
      *k-- = t;
    }
    sort(k + 1, hi);
    hi = k + 1;
  }
  for (int *i = lo + 1; i < hi; i++) {
    int x = *i, *k = i;
    while (k > lo && k[-1] > x) k[0] = k[-1], k--;
    *k = x;
  }
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned long h = 0;
  for (long r = 0; r < reps; r++) {
    unsigned s = (unsigned)r + 1;
    for (int i = 0; i < 100000; i++) a[i] = (int)((s = s * 1664525u + 1013904223u) >> 8);
    sort(a, a + 100000);
    for (int i = 1; i < 100000; i++)
      if (a[i - 1] > a[i]) return 1;
    h = h * 31 + (unsigned)a[50000];
  }
  printf("%lx\n", h);
}
