// OpenMP tasks: a blocked Cholesky factorisation of 6 by 6 blocks; all order is by depend on blocks. There are 6 tasks of
// the first kind, 15 of the second and of the last, and 20 of the third. A task depends on the last writer of each block
// that it reads (70 times: 15 + 2 * 20 + 15), and that of a block that it writes (35: all but the first of its 21 blocks),
// which nobody has read since.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// TASKS: 56
// DEPENDS: 105
// COUNT: task_wait 0
#include <stdio.h>

enum { BLOCKS = 6, SIZE = 4 };
typedef double block[SIZE][SIZE];
static block m[BLOCKS][BLOCKS];

static double root(double v) {
    double r = v;
    for (int i = 0; i < 40; i++)
        r = (r + v / r) / 2;
    return r;
}
static void potrf(block a) {
    for (int k = 0; k < SIZE; k++) {
        a[k][k] = root(a[k][k]);
        for (int i = k + 1; i < SIZE; i++) {
            a[i][k] /= a[k][k];
            for (int j = k + 1; j <= i; j++)
                a[i][j] -= a[i][k] * a[j][k];
        }
    }
}
static void trsm(block l, block a) {
    for (int r = 0; r < SIZE; r++)
        for (int c = 0; c < SIZE; c++) {
            for (int k = 0; k < c; k++)
                a[r][c] -= a[r][k] * l[c][k];
            a[r][c] /= l[c][c];
        }
}
static void gemm(block x, block y, block a) {
    for (int r = 0; r < SIZE; r++)
        for (int c = 0; c < SIZE; c++)
            for (int k = 0; k < SIZE; k++)
                a[r][c] -= x[r][k] * y[c][k];
}

int main(void) {
    for (int i = 0; i < BLOCKS; i++)
        for (int j = 0; j <= i; j++)
            for (int r = 0; r < SIZE; r++)
                for (int c = 0; c < SIZE; c++)
                    m[i][j][r][c] = 1.0 / (1 + i + j + r + c) + (i == j && r == c ? 50 : 0);
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < BLOCKS; k++) {
#pragma omp task depend(inout : m[k][k])
        potrf(m[k][k]);
        for (int i = k + 1; i < BLOCKS; i++) {
#pragma omp task depend(in : m[k][k]) depend(inout : m[i][k])
            trsm(m[k][k], m[i][k]);
        }
        for (int i = k + 1; i < BLOCKS; i++) {
            for (int j = k + 1; j < i; j++) {
#pragma omp task depend(in : m[i][k], m[j][k]) depend(inout : m[i][j])
                gemm(m[i][k], m[j][k], m[i][j]);
            }
#pragma omp task depend(in : m[i][k]) depend(inout : m[i][i])
            gemm(m[i][k], m[i][k], m[i][i]);
        }
    }
    double sum = 0;
    for (int i = 0; i < BLOCKS; i++)
        sum += m[i][i][SIZE - 1][SIZE - 1];
    printf("%.9f\n", sum);
    return 0;
}
