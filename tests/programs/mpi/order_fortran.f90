! A token goes round the ranks, each time in another way that MPI orders two ranks by, as in order.c. Whoever has it
! logs that: the graph must have the logged order.
module token_ring
  use, intrinsic :: iso_c_binding
  implicit none
  include 'mpif.h'
  integer, parameter :: ways = 13, steps = 3 * ways, point = 8
  integer, target :: entries(steps) = 0
  integer :: rank, ranks, token = 0, again
contains
  subroutine section(step)
    integer, intent(in) :: step
    entries(step + 1) = step + 1
    token = step + 1
  end subroutine

  subroutine hand_on(way, to)
    integer, intent(in) :: way, to
    integer :: request, requests(2), ack, failed
    select case (way)
    case (1, 7)
      call MPI_Isend(token, 1, MPI_INTEGER, to, way, MPI_COMM_WORLD, request, failed)
      call MPI_Wait(request, MPI_STATUS_IGNORE, failed)
    case (3)
      call MPI_Sendrecv(token, 1, MPI_INTEGER, to, 3, ack, 1, MPI_INTEGER, to, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
    case (4)
      call MPI_Send_init(token, 1, MPI_INTEGER, to, 4, MPI_COMM_WORLD, request, failed)
      call MPI_Start(request, failed)
      call MPI_Wait(request, MPI_STATUS_IGNORE, failed)
      call MPI_Request_free(request, failed)
    case (5)
      requests(1) = MPI_REQUEST_NULL
      call MPI_Issend(token, 1, MPI_INTEGER, to, 5, MPI_COMM_WORLD, requests(2), failed)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, failed)
    case (6)
      call MPI_Ssend(token, 1, MPI_INTEGER, to, 6, again, failed)
    case default
      call MPI_Send(token, 1, MPI_INTEGER, to, way, MPI_COMM_WORLD, failed)
    end select
  end subroutine

  subroutine take(way, from)
    integer, intent(in) :: way, from
    integer :: request, requests(2), index, ack, failed, status(MPI_STATUS_SIZE)
    logical :: done
    ack = 0
    select case (way)
    case (1)
      call MPI_Irecv(token, 1, MPI_INTEGER, from, 1, MPI_COMM_WORLD, request, failed)
      call MPI_Wait(request, status, failed)
    case (2)
      call MPI_Recv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, status, failed)
      if (status(MPI_SOURCE) /= from .or. status(MPI_TAG) /= 2) call MPI_Abort(MPI_COMM_WORLD, 8, failed)
    case (3)
      call MPI_Sendrecv(ack, 1, MPI_INTEGER, from, 33, token, 1, MPI_INTEGER, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
    case (4)
      call MPI_Irecv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, request, failed)
      done = .false.
      do while (.not. done)
        call MPI_Test(request, done, status, failed)
      end do
    case (5)
      call MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status, failed)
      call MPI_Recv(token, 1, MPI_INTEGER, status(MPI_SOURCE), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, failed)
    case (6)
      call MPI_Recv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 6, again, MPI_STATUS_IGNORE, failed)
    case (7)
      requests(1) = MPI_REQUEST_NULL
      call MPI_Irecv(token, 1, MPI_INTEGER, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, requests(2), failed)
      call MPI_Waitany(2, requests, index, status, failed)
    case default
      call MPI_Recv(token, 1, MPI_INTEGER, from, MPI_ANY_TAG, MPI_COMM_WORLD, status, failed)
      if (status(MPI_TAG) /= way) call MPI_Abort(MPI_COMM_WORLD, 7, failed)
    end select
  end subroutine

  subroutine together(way, from, to)
    integer, intent(in) :: way, from, to
    integer :: mine, total, request, failed
    mine = 0
    if (rank == from) mine = token
    select case (way)
    case (9)
      call MPI_Bcast(token, 1, MPI_INTEGER, from, MPI_COMM_WORLD, failed)
    case (10)
      call MPI_Reduce(mine, total, 1, MPI_INTEGER, MPI_SUM, to, MPI_COMM_WORLD, failed)
    case (11)
      call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, failed)
    case (12)
      call MPI_Ibarrier(MPI_COMM_WORLD, request, failed)
      call MPI_Wait(request, MPI_STATUS_IGNORE, failed)
    case default
      call MPI_Barrier(MPI_COMM_WORLD, failed)
    end select
  end subroutine
end module

program order
  use token_ring
  implicit none
  integer :: step, from, to, way, failed
  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, failed)
  call MPI_Comm_dup(MPI_COMM_WORLD, again, failed)
  do step = 0, steps - 1
    from = mod(step, ranks)
    to = mod(step + 1, ranks)
    way = mod(step, ways)
    if (rank == from) then
      if (ranks > 1 .and. way > 0 .and. way < point .and. token /= step) call MPI_Abort(MPI_COMM_WORLD, 9, failed)
      call section(step)
    end if
    if (way >= point) then
      call together(way, from, to)
    else if (ranks > 1) then
      if (rank == from) call hand_on(way, to)
      if (rank == to) call take(way, from)
    end if
  end do
  write (0, '(a,i0,a,z0,a,i0,a)') 'log ', rank, ' 0x', transfer(c_loc(entries), 0_c_intptr_t), ' ', steps, ' 4'
  call MPI_Comm_free(again, failed)
  write (*, '(a,i0,a,i0,a)') 'rank ', rank, ' of ', ranks, ' is done'
  call MPI_Finalize(failed)
end program
