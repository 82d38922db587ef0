! Iteration i of 8 does i steps; loops of each schedule.
subroutine steps(n)
  integer, intent(in) :: n
  integer, volatile :: k
  do k = 1, n
  end do
end subroutine

program spans
  integer :: i
  integer, volatile :: many = 8
  integer :: n
  n = many
  !$omp parallel do schedule(static)
  do i = 1, n
    call steps(i)
  end do
  !$omp end parallel do
  !$omp parallel do schedule(static, 3)
  do i = 1, n
    call steps(i)
  end do
  !$omp end parallel do
  !$omp parallel do schedule(dynamic, 2)
  do i = 1, n
    call steps(i)
  end do
  !$omp end parallel do
end program
