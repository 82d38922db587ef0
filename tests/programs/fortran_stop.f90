! STOP with a code ends the program with it, after the library has flushed its files; the trace is whole.
! MODE: golden
! EXPECT: exit 3
program stops
  implicit none
  integer :: i, s
  s = 0
  do i = 1, 10
    s = s + i
  end do
  write(*, '(i0)', advance='no') s
  if (s == 55) stop 3
  print *, 'never'
end program
