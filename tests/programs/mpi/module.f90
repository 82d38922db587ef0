! By the module instead of the header.
program module
  use mpi
  implicit none
  integer :: failed
  call MPI_Init(failed)
  call MPI_Finalize(failed)
end program
