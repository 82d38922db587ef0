// Every rank writes the same global at the same address (linked without -pie): that is not the same memory.
#include <mpi.h>
#include <stdio.h>
static int shared;
int main(int argc, char **argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 100; i++) shared += rank;
  printf("%d at %p\n", shared, (void *)&shared);
  MPI_Finalize();
  return 0;
}
