// Rank 1 waits for rank 0's message for about 200 ms, both wait at a barrier; all other ranks do nothing else.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int count, char **words) {
    int rank, value = 7;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        usleep(200000);
        MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    printf("%d\n", value);
    MPI_Finalize();
    return 0;
}
