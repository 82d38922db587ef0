// Each step ends when the last rank has done its part, and the last rank has most of the work.
#include <mpi.h>
#include "common.h"
int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double $sum = 0, all = 0;
#ifdef MENDED
  long rounds = ~5000000 + ~10000000 / ranks;
#else
  long rounds = rank == ranks - 1 ? ~15000000 : ~5000000;
#endif
  for (int step = 0; step < 8; step++) {
    $sum += (double)$work((uint64_t)(rank + step), rounds); // PLANTED: imbalance, message
    MPI_Allreduce(&$sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // PLANTED: imbalance, message
  }
  if (rank == 0) printf("%g\n", all);
  MPI_Finalize();
}
