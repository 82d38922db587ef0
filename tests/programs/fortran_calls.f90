! Procedures of every kind: module, internal, recursive, external, by a procedure pointer, with derived types and
! assumed-shape arrays. One context without synchronisation: one Work task, whatever the Fortran library does for `print`.
! MODE: golden
! LEVELS: O0 O1 O2 O3
module shapes
  implicit none
  type :: point
    real(8) :: x = 0, y = 0
  end type
  type, extends(point) :: circle
    real(8) :: r = 1
  contains
    procedure :: area
  end type
  abstract interface
    real(8) function unary(x)
      real(8), intent(in) :: x
    end function
  end interface
contains
  real(8) function area(this)
    class(circle), intent(in) :: this
    area = 3 * this%r**2
  end function
  recursive integer function fib(n) result(f)
    integer, intent(in) :: n
    f = n
    if (n > 1) f = fib(n - 1) + fib(n - 2)
  end function
  real(8) function total(a)
    real(8), intent(in) :: a(:, :)
    total = sum(a)
  end function
  real(8) function twice(x)
    real(8), intent(in) :: x
    twice = 2 * x
  end function
end module
program calls
  use shapes
  implicit none
  type(circle) :: c
  real(8) :: grid(6, 6)
  procedure(unary), pointer :: f
  integer :: i
  c%r = 2
  do i = 1, 6
    call fill(i)
  end do
  f => twice
  call external_one(grid(1, 1))
  print '(3f8.1, i6, f8.1)', c%area(), total(grid), total(grid(1:5:2, 2:6:2)), fib(10), f(4d0)
contains
  subroutine fill(column)
    integer, intent(in) :: column
    grid(:, column) = column
  end subroutine
end program
subroutine external_one(x)
  real(8), intent(inout) :: x
  x = x + 1
end subroutine
