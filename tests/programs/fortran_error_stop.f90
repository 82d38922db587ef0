! ERROR STOP with a text: exit code 1, the text on standard error, the trace whole.
! MODE: golden
! EXPECT: exit 1
subroutine fails(n)
  implicit none
  integer, intent(in) :: n
  if (n > 2) error stop 'too many'
end subroutine
program stops
  implicit none
  print '(a)', 'before'
  call fails(3)
end program
