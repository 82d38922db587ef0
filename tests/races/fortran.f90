! Races in Fortran with OpenMP, each beside the program without it: `fortran CASE racy|fixed`.
! The accesses of a case are in procedures whose names begin with its name.
module state
  use omp_lib
  implicit none
  logical :: fixed
  integer :: x = 0, y = 0, total = 0
  integer :: a(64) = 0, b(64) = 0, m(8, 8) = 0
  integer, save :: each = 0
  !$omp threadprivate(each)
  integer :: common_value
  common /block/ common_value
contains
  subroutine sum_of_loop
    integer :: i, s
    s = 0
    if (fixed) then
      !$omp parallel do num_threads(2) reduction(+:s)
      do i = 1, 64
        s = s + i
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 1, 64
        s = s + i
      end do
    end if
    total = s
  end subroutine

  subroutine largest
    integer :: i, s
    s = 0
    if (fixed) then
      !$omp parallel do num_threads(2) reduction(max:s)
      do i = 1, 64
        s = max(s, a(i) + i)
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 1, 64
        s = max(s, a(i) + i)
      end do
    end if
    total = s
  end subroutine

  subroutine array_reduction
    integer :: i, s(4)
    s = 0
    if (fixed) then
      !$omp parallel do num_threads(2) reduction(+:s)
      do i = 1, 64
        s(mod(i, 4) + 1) = s(mod(i, 4) + 1) + i
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 1, 64
        s(mod(i, 4) + 1) = s(mod(i, 4) + 1) + i
      end do
    end if
    total = s(1)
  end subroutine

  subroutine temporary
    integer :: i, t
    if (fixed) then
      !$omp parallel do num_threads(2) private(t)
      do i = 1, 64
        t = b(i)
        a(i) = t
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 1, 64
        t = b(i)
        a(i) = t
      end do
    end if
  end subroutine

  subroutine first_and_last
    integer :: i, t
    t = 3
    if (fixed) then
      !$omp parallel do num_threads(2) firstprivate(t) lastprivate(t)
      do i = 1, 64
        t = t + 1
      end do
    else
      !$omp parallel do num_threads(2) shared(t)
      do i = 1, 64
        t = t + 1
      end do
    end if
    total = t
  end subroutine

  subroutine named_critical
    !$omp parallel num_threads(2)
    if (fixed .or. omp_get_thread_num() == 0) then
      !$omp critical (one)
      x = x + 1
      !$omp end critical (one)
    else
      !$omp critical (two)
      x = x + 1
      !$omp end critical (two)
    end if
    !$omp end parallel
  end subroutine

  subroutine atomic_update
    !$omp parallel num_threads(2)
    if (fixed) then
      !$omp atomic
      x = x + 1
    else
      x = x + 1
    end if
    !$omp end parallel
  end subroutine

  subroutine carried
    integer :: i
    if (fixed) then
      !$omp parallel do num_threads(2)
      do i = 2, 64
        a(i) = b(i - 1) + 1
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 2, 64
        a(i) = a(i - 1) + 1
      end do
    end if
  end subroutine

  subroutine between_loops
    integer :: i
    !$omp parallel num_threads(2)
    if (fixed) then
      !$omp do schedule(static)
      do i = 1, 64
        a(i) = i
      end do
      !$omp end do
    else
      !$omp do schedule(static)
      do i = 1, 64
        a(i) = i
      end do
      !$omp end do nowait
    end if
    !$omp do schedule(static)
    do i = 1, 64
      b(i) = a(65 - i)
    end do
    !$omp end parallel
  end subroutine

  subroutine tasks_depend
    !$omp parallel num_threads(2)
    !$omp single
    if (fixed) then
      !$omp task depend(out:x)
      x = 1
      !$omp end task
      !$omp task depend(in:x)
      y = x
      !$omp end task
    else
      !$omp task
      x = 1
      !$omp end task
      !$omp task
      y = x
      !$omp end task
    end if
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine task_waited
    !$omp parallel num_threads(2)
    !$omp single
    !$omp task
    x = 1
    !$omp end task
    if (fixed) then
      !$omp taskwait
    end if
    y = x
    !$omp end single
    !$omp end parallel
  end subroutine

  subroutine sections_both
    !$omp parallel sections num_threads(2)
    !$omp section
    x = 1
    !$omp section
    if (fixed) then
      y = 1
    else
      x = 2
    end if
    !$omp end parallel sections
  end subroutine

  subroutine single_only
    !$omp parallel num_threads(2)
    if (fixed) then
      !$omp single
      x = 1
      !$omp end single
    else
      !$omp single
      x = 1
      !$omp end single nowait
    end if
    a(omp_get_thread_num() + 1) = x
    !$omp end parallel
  end subroutine

  subroutine copy_private
    integer :: mine
    !$omp parallel num_threads(2) private(mine)
    if (fixed) then
      !$omp single
      mine = 5
      !$omp end single copyprivate(mine)
    else
      !$omp single
      x = 5
      !$omp end single nowait
      mine = x
    end if
    a(omp_get_thread_num() + 1) = mine
    !$omp end parallel
  end subroutine

  subroutine master_only
    !$omp parallel num_threads(2)
    !$omp masked
    x = 3
    !$omp end masked
    if (fixed) then
      !$omp barrier
    end if
    if (omp_get_thread_num() == 1) y = x
    !$omp end parallel
  end subroutine

  subroutine thread_private
    !$omp parallel num_threads(2)
    if (fixed) then
      each = each + 1
    else
      common_value = common_value + 1
    end if
    !$omp end parallel
  end subroutine

  subroutine copied_in
    each = 7
    !$omp parallel num_threads(2) copyin(each)
    each = each + omp_get_thread_num()
    if (.not. fixed) x = each
    !$omp end parallel
  end subroutine

  subroutine locked
    integer(omp_lock_kind) :: lock
    call omp_init_lock(lock)
    !$omp parallel num_threads(2)
    if (fixed .or. omp_get_thread_num() == 0) call omp_set_lock(lock)
    x = x + 1
    if (fixed .or. omp_get_thread_num() == 0) call omp_unset_lock(lock)
    !$omp end parallel
    call omp_destroy_lock(lock)
  end subroutine

  subroutine inner_loop
    integer :: i, j
    if (fixed) then
      !$omp parallel do num_threads(2) collapse(2)
      do i = 1, 8
        do j = 1, 8
          m(j, i) = i
        end do
      end do
    else
      !$omp parallel do num_threads(2)
      do i = 1, 8
        do j = 1, 8
          m(j, 1 + mod(i, 4)) = i
        end do
      end do
    end if
  end subroutine

  subroutine saved_local
    !$omp parallel num_threads(2)
    call saved_local_step(omp_get_thread_num() + 1)
    !$omp end parallel
  end subroutine
  subroutine saved_local_step(n)
    integer, intent(in) :: n
    integer, save :: kept = 0
    integer :: own
    if (fixed) then
      own = n
      a(n) = own
    else
      kept = kept + n
      a(n) = kept
    end if
  end subroutine

  subroutine ordered_region
    integer :: i
    !$omp parallel do num_threads(2) ordered
    do i = 1, 16
      if (fixed) then
        !$omp ordered
        x = x + i
        !$omp end ordered
      else
        x = x + i
      end if
    end do
  end subroutine

  subroutine own_array
    integer, allocatable :: work(:)
    integer :: i
    allocate (work(8))
    if (fixed) then
      !$omp parallel num_threads(2) firstprivate(work) private(i)
      do i = 1, 8
        work(i) = i
      end do
      !$omp end parallel
    else
      !$omp parallel num_threads(2) private(i)
      do i = 1, 8
        work(i) = i
      end do
      !$omp end parallel
    end if
  end subroutine

  subroutine array_statement
    !$omp parallel num_threads(2)
    if (fixed) then
      !$omp workshare
      a = b + 1
      !$omp end workshare
    else
      a = b + 1
    end if
    !$omp end parallel
  end subroutine

  ! The library copies where the left side may have to be allocated.
  subroutine assigned
    integer, allocatable, save :: from(:), to(:)
    from = a
    to = b
    !$omp parallel num_threads(2)
    if (fixed) then
      !$omp critical
      to = from
      !$omp end critical
    else
      to = from
    end if
    !$omp end parallel
  end subroutine

  subroutine pointed
    integer, target, save :: memory(64)
    integer, pointer :: p(:), q(:)
    integer :: i
    p => memory(1:32)
    if (fixed) then
      q => memory(33:64)
    else
      q => memory(2:33)
    end if
    !$omp parallel do num_threads(2)
    do i = 1, 32
      p(i) = q(i) + 1
    end do
  end subroutine
end module

program main
  use state
  character(len=32) :: name, form
  call get_command_argument(1, name)
  call get_command_argument(2, form)
  fixed = form == 'fixed'
  select case (name)
  case ('sum_of_loop'); call sum_of_loop
  case ('largest'); call largest
  case ('array_reduction'); call array_reduction
  case ('temporary'); call temporary
  case ('first_and_last'); call first_and_last
  case ('named_critical'); call named_critical
  case ('atomic_update'); call atomic_update
  case ('carried'); call carried
  case ('between_loops'); call between_loops
  case ('tasks_depend'); call tasks_depend
  case ('task_waited'); call task_waited
  case ('sections_both'); call sections_both
  case ('single_only'); call single_only
  case ('copy_private'); call copy_private
  case ('master_only'); call master_only
  case ('thread_private'); call thread_private
  case ('copied_in'); call copied_in
  case ('locked'); call locked
  case ('inner_loop'); call inner_loop
  case ('saved_local'); call saved_local
  case ('ordered_region'); call ordered_region
  case ('own_array'); call own_array
  case ('array_statement'); call array_statement
  case ('pointed'); call pointed
  case ('assigned'); call assigned
  case default; stop 2
  end select
end program
