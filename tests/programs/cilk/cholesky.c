// Cholesky decomposition by blocks, as LDL' modulo a prime: exact.
#include <contech/cilk.h>
#include <stdio.h>

#ifndef N
#define N 48
#endif
enum { B = 8, NB = N / B };
#define P 1000003l
static long a[N][N], original[N][N];

static long inverse(long x) {
  long r = 1;
  for (long e = P - 2; e; e >>= 1, x = x * x % P)
    if (e & 1) r = r * x % P;
  return r;
}

// Row i of column block k: L below the diagonal, D on it.
static void rows(int k, int low, int high) {
  if (high - low > B) {
    int mid = low + (high - low) / 2;
    cilk_spawn(rows, k, low, mid);
    rows(k, mid, high);
    cilk_sync;
    return;
  }
  for (int i = low; i < high; i++)
    for (int j = k * B; j < k * B + B && j <= i; j++) {
      long sum = a[i][j];
      for (int p = 0; p < j; p++) sum = (sum + (P - a[i][p]) * a[j][p] % P * a[p][p]) % P;
      a[i][j] = i == j ? sum : sum * inverse(a[j][j]) % P;
    }
}

static void cholesky(void) {
  for (int k = 0; k < NB; k++) {
    rows(k, k * B, k * B + B);
    if (k + 1 < NB) rows(k, (k + 1) * B, N);
  }
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) original[i][j] = a[i][j] = (i * 31l + j * 17l + i * j + (i == j) * 5000l) % P + 1;
  cilk_run(cholesky);
  int wrong = 0;
  for (int i = 0; i < N; i += 1 + N / 64)
    for (int j = 0; j <= i; j++) {
      long sum = 0;
      for (int p = 0; p <= j; p++) {
        long l = p == i ? 1 : a[i][p], m = p == j ? 1 : a[j][p];
        sum = (sum + l * m % P * a[p][p]) % P;
      }
      wrong += sum != original[i][j] % P;
    }
  printf("%d\n", wrong);
  return wrong;
}
