// All solutions of the n-queens problem by an array of columns.
#include <stdio.h>
#include <stdlib.h>
static int place[16];
static long solve(int n, int row) {
  if (row == n) return 1;
  long s = 0;
  for (int c = 0; c < n; c++) {
    int ok = 1;
    for (int r = 0; r < row && ok; r++) ok = place[r] != c && abs(place[r] - c) != row - r;
    if (ok) {
      place[row] = c;
      s += solve(n, row + 1);
    }
  }
  return s;
}
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1, s = 0;
  for (long r = 0; r < reps; r++) s += solve(8, 0);
  printf("%ld\n", s);
}
