! OpenMP in Fortran: locks, nested locks and the other routines of omp_lib; threadprivate common blocks with copyin; nested
! regions. A nested lock taken again is no task: 2 x 10 locks and 2 nested ones.
! MODE: verify
! FLAGS: -fopenmp
! THREADS: 1 2 4
! COUNT: omp_lock 22
! COUNT: omp_unlock 22
program locks
  use omp_lib
  implicit none
  integer(omp_lock_kind) :: lock
  integer(omp_nest_lock_kind) :: nest
  integer :: i, total, mine, deep
  common /own/ mine
  !$omp threadprivate(/own/)
  total = 0; deep = 0; mine = 5
  call omp_init_lock(lock)
  call omp_init_nest_lock(nest)
  call omp_set_max_active_levels(2)
  !$omp parallel num_threads(2) copyin(/own/) private(i)
  do i = 1, 10
    call omp_set_lock(lock)
    total = total + mine
    call omp_unset_lock(lock)
  end do
  call omp_set_nest_lock(nest)
  call omp_set_nest_lock(nest)
  deep = deep + 1
  call omp_unset_nest_lock(nest)
  call omp_unset_nest_lock(nest)
  !$omp parallel num_threads(2) reduction(+: deep)
  deep = deep + 10
  !$omp end parallel
  !$omp end parallel
  call omp_destroy_lock(lock)
  call omp_destroy_nest_lock(nest)
  print '(2i6)', total, omp_get_max_active_levels()
end program
