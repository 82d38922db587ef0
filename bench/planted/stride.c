// A matrix by columns that is stored by rows.
#include "common.h"
enum { N = 1024, PASSES = 48 };
static double $matrix[N][N], $sums[MOST_THREADS][8];
static int threads;
static void $body(int t) {
  double $sum = 0;
  for (int $pass = 0; $pass < PASSES; $pass++)
    for (long j = share(N, threads, t); j < share(N, threads, t + 1); j++)
      for (long i = 0; i < N; i++)
#ifdef MENDED
        $sum += $matrix[j][i];
#else
        $sum += $matrix[i][j]; // PLANTED: cache
#endif
  $sums[t][0] = $sum;
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  for (int i = 0; i < N; i++) $matrix[i][i] = 1;
  team(threads, $body);
  printf("%f\n", $sums[0][0]);
}
