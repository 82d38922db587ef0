! PART of fortran_arrays: a module and a common block of another file.
module second
  implicit none
  integer(4), volatile :: variable = 4
contains
  subroutine change(x)
    real(8), intent(out) :: x
    integer(4) :: shared(10)
    real(8) :: other
    common /block/ shared, other
    volatile :: shared, x
    x = shared(3)
  end subroutine
end module
