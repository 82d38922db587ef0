! OpenMP in Fortran: one thread generates tasks and waits for them: task and taskwait, an undeferred task, a taskgroup with
! a task in a task, a taskloop. Five tasks and the three of the taskloop.
! MODE: golden
! FLAGS: -fopenmp
! THREADS: 1 2 4
! COUNT: task_create 8
program tasks
  implicit none
  integer :: a(8), i
  a = 0
  !$omp parallel num_threads(1)
  !$omp single
  !$omp task
  a(1) = 1
  !$omp end task
  !$omp task
  a(2) = 2
  !$omp end task
  !$omp taskwait
  !$omp task if(.false.)
  a(3) = a(1) + a(2)
  !$omp end task
  !$omp taskgroup
  !$omp task
  !$omp task
  a(4) = 4
  !$omp end task
  !$omp end task
  !$omp end taskgroup
  !$omp taskloop num_tasks(3) shared(a)
  do i = 5, 7
    a(i) = i
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  print '(8i3)', a
end program
