// Merge sort with a parallel merge.
#include <contech/cilk.h>
#include <stdio.h>

enum { BASE = 64 };
#ifndef N
#define N 8192
#endif
static int a[N], scratch[N];

static int below(const int *v, int n, int x) {
  int low = 0;
  while (low < n) {
    int mid = low + (n - low) / 2;
    if (v[mid] < x) low = mid + 1;
    else n = mid;
  }
  return low;
}

static void merge(const int *p, int np, const int *q, int nq, int *out) {
  if (np < nq) {
    const int *t = p;
    p = q, q = t;
    int n = np;
    np = nq, nq = n;
  }
  if (np + nq <= BASE) {
    while (np > 0 && nq > 0) *out++ = *p <= *q ? (np--, *p++) : (nq--, *q++);
    while (np-- > 0) *out++ = *p++;
    while (nq-- > 0) *out++ = *q++;
    return;
  }
  int mid = np / 2, at = below(q, nq, p[mid]);
  out[mid + at] = p[mid];
  cilk_spawn(merge, p, mid, q, at, out);
  merge(p + mid + 1, np - mid - 1, q + at, nq - at, out + mid + at + 1);
  cilk_sync;
}

static void sort(int *v, int n, int *tmp) {
  if (n <= BASE) {
    for (int i = 1; i < n; i++) {
      int x = v[i], j = i;
      for (; j > 0 && v[j - 1] > x; j--) v[j] = v[j - 1];
      v[j] = x;
    }
    return;
  }
  int h = n / 2;
  cilk_spawn(sort, v, h, tmp);
  sort(v + h, n - h, tmp + h);
  cilk_sync;
  merge(v, h, v + h, n - h, tmp);
  for (int i = 0; i < n; i++) v[i] = tmp[i];
}

int main(void) {
  unsigned x = 12345;
  long sum = 0;
  for (int i = 0; i < N; i++) x = x * 1664525u + 1013904223u, sum += a[i] = (int)(x >> 8);
  cilk_run(sort, a, N, scratch);
  int wrong = 0;
  for (int i = 0; i < N; i++) sum -= a[i], wrong += i > 0 && a[i - 1] > a[i];
  printf("%d %ld\n", wrong, sum);
  return wrong || sum;
}
