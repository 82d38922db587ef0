// OpenMP in every rank: the threads of a region sum, the main thread sends the sum on.
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, provided, sum = 0, total = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
#pragma omp parallel for num_threads(2) reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i % (rank + 2);
  MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d\n", total);
  MPI_Finalize();
  return 0;
}
