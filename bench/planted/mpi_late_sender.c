// The first rank prepares what all others wait for, one after the other; in the twin all ranks prepare equal parts.
#include <mpi.h>
#include "common.h"
enum { ROUNDS = 60, PREPARE = ~3000000, USE = ~1000000 };
static void $prepare(uint64_t *x, long rounds) {
  *x = $work(*x, rounds); // PLANTED: message, serial, producer, imbalance
}
int main(int argc, char **argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  uint64_t x = (uint64_t)rank;
  for (int round = 0; round < ROUNDS / ranks; round++) {
#ifdef MENDED
    $prepare(&x, (long)PREPARE * (ranks - 1) / ranks);
#else
    if (rank > 0) MPI_Recv(&x, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // PLANTED: message, serial, producer, imbalance
    for (int to = 1; rank == 0 && to < ranks; to++) {
      $prepare(&x, PREPARE);
      MPI_Send(&x, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
    }
#endif
    x = $work(x, USE);
  }
  if (rank == 0) printf("%lu\n", (unsigned long)x);
  MPI_Finalize();
}
