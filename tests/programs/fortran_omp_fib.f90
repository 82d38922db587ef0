! OpenMP tasks in Fortran: fib. A call of n >= 2 generates two tasks and waits for both; of 10, there are 88 such calls,
! the eleventh Fibonacci number less one.
! MODE: verify
! FLAGS: -fopenmp
! THREADS: 1 2 4
! TASKS: 176
! COUNT: task_wait 88
module numbers
contains
  recursive integer function fib(n) result(f)
    integer, intent(in) :: n
    integer :: a, b
    f = n
    if (n < 2) return
    !$omp task shared(a) firstprivate(n)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b) firstprivate(n)
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    f = a + b
  end function
end module
program fibonacci
  use numbers
  implicit none
  integer :: r
  !$omp parallel
  !$omp single
  r = fib(10)
  !$omp end single
  !$omp end parallel
  print '(i0)', r
end program
