! An error that the Fortran library finds: it says so and aborts (there is nothing to read). What was recorded up to
! there is whole.
! MODE: verify
! EXPECT: signal 6
program fails
  implicit none
  integer :: u, i
  open(newunit=u, file='/dev/null', action='read')
  print '(a)', 'before'
  read(u, *) i
  print '(i0)', i
end program
