! Input and output statements: formatted, unformatted and internal files, namelist, non-advancing, an end-of-file branch,
! errors by iostat. The Fortran library takes locks for them; they are no tasks of the program.
! MODE: golden
program io
  implicit none
  integer :: u, i, n, status
  real(8) :: x(5)
  character(80) :: line
  namelist /settings/ n, x
  x = [(i * 1.5d0, i = 1, 5)]
  n = 5
  open(newunit=u, file='fortran_io.txt', action='readwrite', status='replace')
  write(u, '(5f8.2)') x
  write(u, nml=settings)
  write(u, '(a)', advance='no') 'left'
  write(u, '(a)') ' right'
  rewind(u)
  n = 0
  do
    read(u, '(a)', end=10) line
    n = n + 1
  end do
10 close(u, status='delete')
  open(newunit=u, form='unformatted', status='scratch')
  write(u) x
  rewind(u)
  x = 0
  read(u) x
  close(u)
  write(line, '(i0, 1x, f0.3)') n, sum(x)
  open(newunit=u, file='/nonexistent/file', status='old', iostat=status)
  print '(a, l2)', trim(line), status /= 0
  write(0, '(a)') 'to standard error'
end program
