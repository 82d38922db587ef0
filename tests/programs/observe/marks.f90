! Idle, scheduling and a phase by the program's own word, within a region of interest of about 300 ms.
program marks
    use contech_observe
    implicit none
    call contech_phase_begin('before')
    call work()
    call contech_phase_end()
    call contech_region_begin()
    call contech_idle_begin()
    call work()
    call contech_idle_end()
    call contech_phase_begin('marked')
    call contech_scheduling_begin()
    call work()
    call contech_scheduling_end()
    call contech_phase_end()
    call contech_region_end()
    call work()
    call contech_region_begin()
    call work()
    call contech_region_end()
    call work()
    print '(a)', 'marked'
contains
    subroutine work()
        integer(8) :: begin, now, rate
        call system_clock(begin, rate)
        do
            call system_clock(now)
            if (now - begin >= rate / 10) exit
        end do
    end subroutine
end program
