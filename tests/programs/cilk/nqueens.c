// n-queens: a spawn for each place of the next queen that is not attacked.
#include <contech/cilk.h>
#include <stdio.h>

#ifndef N
#define N 7
#endif

static int safe(const char *rows, int n, int row) {
  for (int i = 0; i < n; i++)
    if (rows[i] == row || rows[i] == row - (n - i) || rows[i] == row + (n - i)) return 0;
  return 1;
}

struct board { char rows[N]; };

static long place(struct board board, int n) {
  if (n == N) return 1;
  long found[N] = {0}, sum = 0;
  for (int row = 0; row < N; row++)
    if (safe(board.rows, n, row)) {
      board.rows[n] = (char)row;
      cilk_spawn_to(found[row], place, board, n + 1);
    }
  cilk_sync;
  for (int row = 0; row < N; row++) sum += found[row];
  return sum;
}

int main(void) {
  struct board board = {{0}};
  long solutions;
  cilk_run_to(solutions, place, board, 0);
  printf("%ld\n", solutions);
  static const long known[] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680};
  return solutions != known[N];
}
