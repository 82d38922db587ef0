// LU decomposition by blocks, without pivoting, modulo a prime: exact.
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

static void factor(int k) {
  for (int p = k * B; p < k * B + B; p++) {
    long d = inverse(a[p][p]);
    for (int i = p + 1; i < k * B + B; i++) {
      a[i][p] = a[i][p] * d % P;
      for (int j = p + 1; j < k * B + B; j++) a[i][j] = (a[i][j] + (P - a[i][p]) * a[p][j]) % P;
    }
  }
}

static void right(int k, int j) {
  for (int p = k * B; p < k * B + B; p++)
    for (int i = p + 1; i < k * B + B; i++)
      for (int c = j * B; c < j * B + B; c++) a[i][c] = (a[i][c] + (P - a[i][p]) * a[p][c]) % P;
}

static void below(int k, int i) {
  for (int p = k * B; p < k * B + B; p++) {
    long d = inverse(a[p][p]);
    for (int r = i * B; r < i * B + B; r++) {
      a[r][p] = a[r][p] * d % P;
      for (int c = p + 1; c < k * B + B; c++) a[r][c] = (a[r][c] + (P - a[r][p]) * a[p][c]) % P;
    }
  }
}

static void update(int k, int i, int j) {
  for (int r = i * B; r < i * B + B; r++)
    for (int p = k * B; p < k * B + B; p++)
      for (int c = j * B; c < j * B + B; c++) a[r][c] = (a[r][c] + (P - a[r][p]) * a[p][c]) % P;
}

static void lu(void) {
  for (int k = 0; k < NB; k++) {
    factor(k);
    for (int i = k + 1; i < NB; i++) {
      cilk_spawn(right, k, i);
      cilk_spawn(below, k, i);
    }
    cilk_sync;
    for (int i = k + 1; i < NB; i++)
      for (int j = k + 1; j < NB; j++) cilk_spawn(update, k, i, j);
    cilk_sync;
  }
}

int main(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) original[i][j] = a[i][j] = (i * 7919l + j * 104729l + (i == j) * 1000l + i * j) % P + 1;
  cilk_run(lu);
  int wrong = 0;
  for (int i = 0; i < N; i += 1 + N / 64)
    for (int j = 0; j < N; j++) {
      long sum = i <= j ? a[i][j] : 0;
      for (int k = 0; k < i && k <= j; k++) sum = (sum + a[i][k] * a[k][j]) % P;
      wrong += sum % P != original[i][j] % P;
    }
  printf("%d\n", wrong);
  return wrong;
}
