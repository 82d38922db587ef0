// Sparse matrix times vector, compressed rows, 20000 rows of about 8 entries.
#include <stdio.h>
#include <stdlib.h>
#define ROWS 20000
#define PER 8
static int start[ROWS + 1], column[ROWS * PER];
static double value[ROWS * PER], x[ROWS], y[ROWS];
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  unsigned s = 1;
  for (int i = 0; i < ROWS; i++) {
    start[i + 1] = start[i];
    for (unsigned k = 0; k < 4 + (s >> 16) % 5; k++) {
      s = s * 1103515245u + 12345u;
      column[start[i + 1]] = (int)((s >> 8) % ROWS);
      value[start[i + 1]++] = (double)(s & 255) / 256;
    }
    x[i] = i;
  }
  for (long r = 0; r < reps; r++) {
    for (int i = 0; i < ROWS; i++) {
      double sum = 0;
      for (int k = start[i]; k < start[i + 1]; k++) sum += value[k] * x[column[k]];
      y[i] = sum;
    }
    x[r % ROWS] = y[(r * 13) % ROWS] * 1e-6;
  }
  double t = 0;
  for (int i = 0; i < ROWS; i++) t += y[i];
  printf("%.6e\n", t);
}
