! OpenMP in Fortran: dependences order tasks: a writer, two readers, a writer after both, on one item; an inout on another.
! MODE: golden
! FLAGS: -fopenmp
! THREADS: 1 2 4
program depends
  implicit none
  integer :: x, y, z
  x = 0; y = 0; z = 0
  !$omp parallel num_threads(1)
  !$omp single
  !$omp task depend(out: x)
  x = 1
  !$omp end task
  !$omp task depend(in: x)
  y = x
  !$omp end task
  !$omp task depend(in: x) depend(inout: z)
  z = z + x
  !$omp end task
  !$omp task depend(inout: x, z)
  x = x + z
  !$omp end task
  !$omp end single
  !$omp end parallel
  print '(3i3)', x, y, z
end program
