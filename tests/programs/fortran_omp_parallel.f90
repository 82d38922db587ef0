! OpenMP in Fortran: a region of two threads. Create before it, one context for each implicit task, one Join after it;
! the explicit barrier and the one at the end of the loop are each one Barrier of both contexts. As omp_parallel in C.
! MODE: golden
! FLAGS: -fopenmp
! THREADS: 1 2 4
program parallel
  use omp_lib
  implicit none
  integer :: x(0:1), y, z(0:1), i
  x = 0
  !$omp parallel num_threads(2)
  x(omp_get_thread_num()) = 1
  !$omp barrier
  !$omp master
  y = omp_get_num_threads()
  !$omp end master
  !$omp do schedule(static)
  do i = 0, 1
    x(i) = x(i) + 1
  end do
  !$omp end do
  z(omp_get_thread_num()) = y
  !$omp end parallel
  print '(5i2)', x, y, z
end program
