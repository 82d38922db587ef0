! Where Fortran keeps things: allocatable, automatic, pointer and assumed-shape arrays, sections with strides, module
! variables, a common block shared with another file, components of derived types. Each access below is in the graph.
! MODE: verify
! CHECK: accesses
! WITH: fortran_arrays_second.f90
program arrays
  use second
  use iso_c_binding
  implicit none
  type :: particle
    integer(4) :: kind
    real(8) :: place(3)
  end type
  integer(4) :: shared(10)
  real(8) :: other
  common /block/ shared, other
  real(8), allocatable, target :: table(:, :)
  real(8), pointer :: row(:)
  type(particle), target :: swarm(4)
  integer(c_intptr_t) :: at(8)
  volatile :: shared, other, table, swarm, row
  allocate(table(4, 5))
  table(2, 3) = 1
  at(1) = loc(table(2, 3))
  row => table(2, :)
  row(4) = 2
  at(2) = loc(table(2, 4))
  shared(3) = 7
  at(3) = loc(shared(3))
  call change(other)
  at(4) = loc(other)
  swarm(3)%place(2) = 5
  at(5) = loc(swarm(3)%place(2))
  variable = 9
  at(6) = loc(variable)
  call section(table(1:4:2, 5), at(7))
  at(8) = automatic(6)
  call say('W', at(1), 8)
  call say('W', at(2), 8)
  call say('W', at(3), 4)
  call say('R', at(3), 4)   ! in change
  call say('W', at(4), 8)
  call say('W', at(5), 8)
  call say('W', at(6), 4)
  call say('W', at(7), 8)
  call say('W', at(8), 2)
  deallocate(table)
contains
  subroutine section(a, where)
    real(8), intent(inout) :: a(:)
    integer(c_intptr_t), intent(out) :: where
    volatile :: a
    a(2) = 3
    where = loc(table(3, 5))
  end subroutine
  integer(c_intptr_t) function automatic(n)
    integer, intent(in) :: n
    integer(2) :: local(n)
    volatile :: local
    local(n) = 1
    automatic = loc(local(n))
  end function
  subroutine say(what, address, bytes)
    character, intent(in) :: what
    integer(c_intptr_t), intent(in) :: address
    integer, intent(in) :: bytes
    print '("0:* ", a, " 0x", z0, 1x, i0)', what, address, bytes
  end subroutine
end program
