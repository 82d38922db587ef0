! OpenMP in Fortran: all schedules, collapse, ordered, sections, single with copyprivate, workshare, parallel do, simd,
! reductions (scalars, arrays, max), lastprivate, atomic. libomp says nothing of these on standard error (flang does not
! mark what kind of work is shared; the pass does).
! MODE: verify
! FLAGS: -fopenmp
! THREADS: 1 2 4
program loops
  implicit none
  integer :: i, j, s, m, last, order(8), n, count, sums(3)
  real(8) :: a(100), b(100)
  a = 1
  s = 0; m = 0; n = 0; count = 0; sums = 0
  !$omp parallel do schedule(static, 7)
  do i = 1, 100
    a(i) = i
  end do
  !$omp parallel
  !$omp do schedule(dynamic, 3) reduction(+: s, sums) reduction(max: m)
  do i = 1, 100
    s = s + i
    m = max(m, int(a(i)))
    sums(1 + mod(i, 3)) = sums(1 + mod(i, 3)) + i
  end do
  !$omp do schedule(guided) collapse(2)
  do i = 1, 10
    do j = 1, 10
      b(10 * (i - 1) + j) = a(10 * (i - 1) + j) * 2
    end do
  end do
  !$omp do schedule(runtime) lastprivate(last)
  do i = 1, 50
    last = i
    !$omp atomic
    count = count + 1
  end do
  !$omp do schedule(static, 1) ordered
  do i = 1, 8
    !$omp ordered
    n = n + 1
    order(n) = i
    !$omp end ordered
  end do
  !$omp sections
  !$omp section
  a(1) = 5
  !$omp section
  a(2) = 6
  !$omp end sections
  !$omp single
  a(3) = 7
  !$omp end single
  !$omp workshare
  b = b + a
  !$omp end workshare
  !$omp end parallel
  !$omp parallel do simd
  do i = 1, 100
    b(i) = b(i) + 1
  end do
  print '(8i6, f10.1)', s, m, sums, last, count, sum(order * [(i, i = 1, 8)]), sum(b)
end program
