// A token goes round the ranks, each time in another way that MPI orders two ranks by. Whoever has it logs that: the
// graph must have the logged order.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#define WAYS 26
#define STEPS (3 * WAYS)

static int entries[STEPS];
static int rank, size, token;

__attribute__((noinline)) static void section(int step) {
  entries[step] = step + 1;
  token = step + 1;
}

static void from_one_to_next(int way, int from, int to, MPI_Comm duplicate, MPI_Comm reversed) {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Request request, two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  MPI_Message message;
  int index, flag = 0, ack = 0;
  if (rank == from) {
    switch (way) {
    case 1: MPI_Isend(&token, 1, MPI_INT, to, 1, all, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break;
    case 3: MPI_Sendrecv(&token, 1, MPI_INT, to, 3, &ack, 1, MPI_INT, to, 33, all, &status); break;
    case 4:
      MPI_Send_init(&token, 1, MPI_INT, to, 4, all, &request);
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 5: MPI_Ssend(&token, 1, MPI_INT, to, 5, all); break;
    case 7: MPI_Issend(&token, 1, MPI_INT, to, 7, all, &two[1]); MPI_Waitall(2, two, MPI_STATUSES_IGNORE); break;
    case 9: MPI_Send(&token, 1, MPI_INT, to, 9, duplicate); break;
    case 10: MPI_Send(&token, 1, MPI_INT, size - 1 - to, 10, reversed); break;
    default: MPI_Send(&token, 1, MPI_INT, to, way, all);
    }
  } else if (rank == to) {
    switch (way) {
    case 1: MPI_Irecv(&token, 1, MPI_INT, from, 1, all, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break;
    case 2: MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 2, all, MPI_STATUS_IGNORE); break;
    case 3: MPI_Sendrecv(&ack, 1, MPI_INT, from, 33, &token, 1, MPI_INT, from, 3, all, MPI_STATUS_IGNORE); break;
    case 4:
      MPI_Recv_init(&token, 1, MPI_INT, MPI_ANY_SOURCE, 4, all, &request);
      MPI_Startall(1, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Request_free(&request);
      break;
    case 5:
      MPI_Probe(MPI_ANY_SOURCE, 5, all, &status);
      MPI_Recv(&token, 1, MPI_INT, status.MPI_SOURCE, 5, all, MPI_STATUS_IGNORE);
      break;
    case 6: MPI_Mprobe(MPI_ANY_SOURCE, 6, all, &message, &status); MPI_Mrecv(&token, 1, MPI_INT, &message, &status); break;
    case 7:
      MPI_Irecv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 7, all, &two[1]);
      MPI_Waitany(2, two, &index, MPI_STATUS_IGNORE);
      break;
    case 8:
      MPI_Irecv(&token, 1, MPI_INT, from, MPI_ANY_TAG, all, &request);
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      break;
    case 9: MPI_Recv(&token, 1, MPI_INT, from, 9, duplicate, MPI_STATUS_IGNORE); break;
    case 10: MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, 10, reversed, MPI_STATUS_IGNORE); break;
    case 11:
      while (!flag) MPI_Iprobe(from, 11, all, &flag, MPI_STATUS_IGNORE);
      MPI_Recv(&token, 1, MPI_INT, from, 11, all, MPI_STATUS_IGNORE);
      break;
    case 12:
      MPI_Irecv(&token, 1, MPI_INT, from, 12, all, &two[1]);
      MPI_Waitsome(2, two, &flag, &index, MPI_STATUSES_IGNORE);
      break;
    default: MPI_Recv(&token, 1, MPI_INT, from, way, all, MPI_STATUS_IGNORE);
    }
  }
}

static void together(int way, int from, int to) {
  MPI_Comm all = MPI_COMM_WORLD;
  MPI_Request request;
  int mine = rank == from ? token : 0, *many = calloc((size_t)size, sizeof *many), sum = 0;
  for (int i = 0; i < size; i++) many[i] = mine;
  switch (way) {
  case 14: MPI_Barrier(all); break;
  case 15: MPI_Bcast(&token, 1, MPI_INT, from, all); break;
  case 16: MPI_Reduce(&mine, &sum, 1, MPI_INT, MPI_SUM, to, all); break;
  case 17: MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all); break;
  case 18: MPI_Gather(&mine, 1, MPI_INT, many, 1, MPI_INT, to, all); break;
  case 19: MPI_Scatter(many, 1, MPI_INT, &sum, 1, MPI_INT, from, all); break;
  case 20: from < to ? MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, all) : MPI_Allgather(&mine, 1, MPI_INT, many, 1, MPI_INT, all); break;
  case 21: { int *got = calloc((size_t)size, sizeof *got); MPI_Alltoall(many, 1, MPI_INT, got, 1, MPI_INT, all); free(got); break; }
  case 22: MPI_Ibarrier(all, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break;
  case 23: MPI_Ibcast(&token, 1, MPI_INT, from, all, &request); MPI_Waitall(1, &request, MPI_STATUSES_IGNORE); break;
  case 24: MPI_Ireduce(&mine, &sum, 1, MPI_INT, MPI_SUM, to, all, &request); MPI_Wait(&request, MPI_STATUS_IGNORE); break;
  default: {
    MPI_Win window;
    int shown = 0;
    MPI_Win_create(&shown, sizeof shown, sizeof shown, MPI_INFO_NULL, all, &window);
    MPI_Win_fence(0, window);
    if (rank == from) MPI_Put(&token, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
  }
  }
  free(many);
}

int main(int argc, char **argv) {
  MPI_Comm duplicate, reversed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  for (int step = 0; step < STEPS; step++) {
    int from = step % size, to = (step + 1) % size, way = step % WAYS;
    if (rank == from) {
      if (way <= 13 && step > 0 && (step - 1) % WAYS <= 13 && size > 1 && token != step) MPI_Abort(MPI_COMM_WORLD, 9);
      section(step);
    }
    // Open MPI 4.1 has no windows for a single rank.
    if (way > 13 && (way < 25 || size > 1)) together(way, from, to);
    else if (way <= 13 && size > 1) from_one_to_next(way, from, to, duplicate, reversed);
  }
  fprintf(stderr, "log %d %p %d %zu\n", rank, (void *)entries, STEPS, sizeof entries[0]);
  MPI_Comm_free(&duplicate);
  MPI_Comm_free(&reversed);
  printf("rank %d of %d is done\n", rank, size);
  MPI_Finalize();
  return 0;
}
