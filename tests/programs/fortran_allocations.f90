! What allocate and deallocate, automatic deallocation, reallocation on assignment, pointers and allocatable components
! take from the heap is in the graph, in this order. The addresses are printed by C, which allocates nothing.
! MODE: verify
! CHECK: allocations
! NATIVE: fortran_allocations_say.c
program allocations
  use iso_c_binding
  implicit none
  interface
    subroutine said(what, address, bytes) bind(c)
      import
      integer(c_int), value :: what, bytes
      integer(c_intptr_t), value :: address
    end subroutine
    subroutine say_all() bind(c)
    end subroutine
  end interface
  type :: tree
    integer, allocatable :: leaves(:)
  end type
  real(8), allocatable, target :: a(:)
  real(8), pointer :: p(:, :)
  type(tree), allocatable :: t
  integer :: n
  n = 5
  allocate(a(10 * n))
  call said(1, loc(a), 80 * n)
  allocate(p(n, n + 1))
  call said(1, loc(p), 8 * n * (n + 1) + 8)   ! and a word by which the library knows pointers it allocated
  call said(0, loc(a), 0)
  deallocate(a)
  allocate(t)
  allocate(t%leaves(n))
  call said(1, loc(t), int(storage_size(t) / 8))
  call said(1, loc(t%leaves), 4 * n)
  call said(0, loc(t%leaves), 0)
  call said(0, loc(t), 0)
  deallocate(t)
  call said(0, loc(p), 0)
  deallocate(p)
  call inner(n)
  call say_all()
contains
  subroutine inner(n)
    integer, intent(in) :: n
    integer, allocatable :: local(:)
    allocate(local(n), source=3)
    call said(1, loc(local), 4 * n)
    call said(0, loc(local), 0)
  end subroutine
end program
