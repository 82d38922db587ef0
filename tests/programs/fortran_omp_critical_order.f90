! OpenMP in Fortran: each critical section logs who is in it; the chain of its Syncs must be that order. Contexts of the
! region are numbered from 1 in the order of their threads.
! MODE: verify
! FLAGS: -fopenmp
! CHECK: lock-order
! ENV: OMP_NUM_THREADS=2
! COUNT: critical_enter 10000
! COUNT: critical_exit 10000
program critical_order
  use omp_lib
  implicit none
  integer, parameter :: each = 5000
  character(1) :: order(2 * each)
  integer :: i, n, ready
  n = 0; ready = 0
  !$omp parallel num_threads(2) private(i)
  !$omp barrier
  do i = 1, each
    !$omp critical (one)
    n = n + 1
    order(n) = char(ichar('1') + omp_get_thread_num())
    !$omp end critical (one)
    if (mod(i, 64) == 0) then
      !$omp atomic
      ready = ready + 1
    end if
  end do
  !$omp end parallel
  print '(10000a)', order
end program
