! OpenMP in Fortran: critical sections log the order they are in, and the chain of their Syncs must be that order.
! MODE: verify
! FLAGS: -fopenmp
! CHECK: log-order
! ENV: OMP_NUM_THREADS=2
! COUNT: critical_enter 10000
! COUNT: critical_exit 10000
program critical_order
  use iso_c_binding
  implicit none
  integer, parameter :: each = 5000
  integer, target :: order(2 * each)
  integer :: i, n, ready
  n = 0; ready = 0
  !$omp parallel num_threads(2) private(i)
  !$omp barrier
  do i = 1, each
    !$omp critical (one)
    n = n + 1
    order(n) = n
    !$omp end critical (one)
    if (mod(i, 64) == 0) then
      !$omp atomic
      ready = ready + 1
    end if
  end do
  !$omp end parallel
  print '(a, z0, 2(1x, i0))', 'sections 0x', transfer(c_loc(order), 0_c_intptr_t), 2 * each, storage_size(n) / 8
end program
