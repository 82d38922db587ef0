! do concurrent, forall, where, array assignments and intrinsics of the Fortran library (matmul, transpose, maxloc):
! loops of one context. The library is not instrumented; what it computes is as natively.
! MODE: golden
program concurrent
  implicit none
  integer :: i, j
  real(8) :: a(20, 20), b(20, 20), c(20, 20)
  do concurrent (i = 1:20, j = 1:20)
    a(i, j) = i + 100 * j
  end do
  b = transpose(a)
  where (b > 500)
    b = -b
  elsewhere
    b = b + 1
  end where
  forall (i = 1:20) c(i, i) = a(i, i)
  do i = 1, 20
    c(:, i) = a(:, i) - b(i, :)
  end do
  a = matmul(c, b)
  print '(3f16.1, 2i4)', sum(a), maxval(b), dot_product(c(:, 3), b(4, :)), maxloc(c)
end program
