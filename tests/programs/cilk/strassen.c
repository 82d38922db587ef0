// Strassen's matrix multiplication: seven spawned products.
#include <contech/cilk.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef N
#define N 32
#endif
#ifndef BASE
#define BASE 8
#endif

static void combine(long *out, const long *a, const long *b, int sign, int n, int da, int db) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) out[i * n + j] = a[i * da + j] + (b ? sign * b[i * db + j] : 0);
}

static void multiply(long *c, const long *a, const long *b, int n, int dc, int da, int db) {
  if (n <= BASE) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        long sum = 0;
        for (int k = 0; k < n; k++) sum += a[i * da + k] * b[k * db + j];
        c[i * dc + j] = sum;
      }
    return;
  }
  int h = n / 2, s = h * h;
  const long *a11 = a, *a12 = a + h, *a21 = a + h * da, *a22 = a21 + h;
  const long *b11 = b, *b12 = b + h, *b21 = b + h * db, *b22 = b21 + h;
  long *t = malloc(sizeof *t * 21 * (unsigned)s), *l = t, *r = t + 7 * s, *m = t + 14 * s;
  combine(l, a11, a22, 1, h, da, da), combine(r, b11, b22, 1, h, db, db);
  combine(l + s, a21, a22, 1, h, da, da), combine(r + s, b11, 0, 1, h, db, db);
  combine(l + 2 * s, a11, 0, 1, h, da, da), combine(r + 2 * s, b12, b22, -1, h, db, db);
  combine(l + 3 * s, a22, 0, 1, h, da, da), combine(r + 3 * s, b21, b11, -1, h, db, db);
  combine(l + 4 * s, a11, a12, 1, h, da, da), combine(r + 4 * s, b22, 0, 1, h, db, db);
  combine(l + 5 * s, a21, a11, -1, h, da, da), combine(r + 5 * s, b11, b12, 1, h, db, db);
  combine(l + 6 * s, a12, a22, -1, h, da, da), combine(r + 6 * s, b21, b22, 1, h, db, db);
  for (int i = 0; i < 7; i++) cilk_spawn(multiply, m + i * s, l + i * s, r + i * s, h, h, h, h);
  cilk_sync;
  for (int i = 0; i < h; i++)
    for (int j = 0; j < h; j++) {
      int at = i * h + j;
      long *row = c + i * dc + j;
      row[0] = m[at] + m[3 * s + at] - m[4 * s + at] + m[6 * s + at];
      row[h] = m[2 * s + at] + m[4 * s + at];
      row[h * dc] = m[s + at] + m[3 * s + at];
      row[h * dc + h] = m[at] - m[s + at] + m[2 * s + at] + m[5 * s + at];
    }
  free(t);
}

int main(void) {
  static long a[N * N], b[N * N], c[N * N];
  for (int i = 0; i < N * N; i++) a[i] = i % 11 - 5, b[i] = i % 7 - 3;
  cilk_run(multiply, c, a, b, N, N, N, N);
  int wrong = 0;
  for (int i = 0; i < N; i += 1 + N / 64)
    for (int j = 0; j < N; j++) {
      long sum = 0;
      for (int k = 0; k < N; k++) sum += a[i * N + k] * b[k * N + j];
      wrong += sum != c[i * N + j];
    }
  printf("%d\n", wrong);
  return wrong;
}
