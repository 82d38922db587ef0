// Figure 8 of the Cilkprof paper: matrix multiplication by divide and conquer.
#include <contech/cilk.h>
#include <stdio.h>

#ifndef N
#define N 32
#endif
#ifndef COARSENING
#define COARSENING 8
#endif
static double a[N * N], b[N * N], c[N * N];

__attribute__((noinline)) static void base(double *C, double *A, double *B, int dim, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) C[i * dim + j] += A[i * dim + k] * B[k * dim + j];
}

#define X(M, r, c) (M + (r * dim + c) * (n / 2))
static void mm(double *C, double *A, double *B, int dim, int n) {
  if (n <= COARSENING) {
    base(C, A, B, dim, n);
    return;
  }
  cilk_spawn(mm, X(C, 0, 0), X(A, 0, 0), X(B, 0, 0), dim, n / 2);
  cilk_spawn(mm, X(C, 0, 1), X(A, 0, 0), X(B, 0, 1), dim, n / 2);
  cilk_spawn(mm, X(C, 1, 0), X(A, 1, 0), X(B, 0, 0), dim, n / 2);
  mm(X(C, 1, 1), X(A, 1, 0), X(B, 0, 1), dim, n / 2);
  cilk_sync;
  cilk_spawn(mm, X(C, 0, 0), X(A, 0, 1), X(B, 1, 0), dim, n / 2);
  cilk_spawn(mm, X(C, 0, 1), X(A, 0, 1), X(B, 1, 1), dim, n / 2);
  cilk_spawn(mm, X(C, 1, 0), X(A, 1, 1), X(B, 1, 0), dim, n / 2);
  mm(X(C, 1, 1), X(A, 1, 1), X(B, 1, 1), dim, n / 2);
  cilk_sync;
}

int main(void) {
  for (int i = 0; i < N * N; i++) a[i] = i % 7, b[i] = i % 5;
  cilk_run(mm, c, a, b, N, N);
  int wrong = 0;
  for (int i = 0; i < N; i += 1 + N / 64)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < N; k++) sum += a[i * N + k] * b[k * N + j];
      wrong += sum != c[i * N + j];
    }
  printf("%d\n", wrong);
  return wrong;
}
