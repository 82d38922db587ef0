// The first messages: rank 0 sends to all, gets an answer of each in any order, then three collective operations.
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        value = 42;
        for (int r = 1; r < size; r++) MPI_Send(&value, 1, MPI_INT, r, 7, MPI_COMM_WORLD);
        for (int r = 1; r < size; r++) {
            MPI_Status s;
            MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
            printf("from %d\n", s.MPI_SOURCE);
        }
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value += rank;
        MPI_Send(&value, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int sum;
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD);
    printf("%d: %d\n", rank, sum);
    MPI_Finalize();
    return 0;
}
