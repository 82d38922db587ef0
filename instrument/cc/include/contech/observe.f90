! contech/observe.h for Fortran: compile this file with the program and `use contech_observe`. Nothing to link; while no
! observer is there, a call costs a look-up of a symbol (about 100 ns). See contech/observe.h for what each means.
module contech_observe
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: contech_idle_begin
    public :: contech_idle_end
    public :: contech_scheduling_begin
    public :: contech_scheduling_end
    public :: contech_phase_begin
    public :: contech_phase_end
    public :: contech_region_begin
    public :: contech_region_end

    abstract interface
        subroutine mark() bind(c)
        end subroutine
        subroutine named(name) bind(c)
            import :: c_char
            character(kind=c_char), intent(in) :: name(*)
        end subroutine
    end interface
    interface
        function dlsym(handle, name) bind(c, name='dlsym') result(found)
            import :: c_ptr, c_funptr, c_char
            type(c_ptr), value :: handle
            character(kind=c_char), intent(in) :: name(*)
            type(c_funptr) :: found
        end function
    end interface

contains
    subroutine call_mark(name)
        character(len=*), intent(in) :: name
        type(c_funptr) :: found
        procedure(mark), pointer :: the_mark
        ! A null handle: any library of the program.
        found = dlsym(c_null_ptr, '__contech_' // name // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, the_mark)
        call the_mark()
    end subroutine

    subroutine contech_phase_begin(name)
        character(len=*), intent(in) :: name
        type(c_funptr) :: found
        procedure(named), pointer :: the_mark
        found = dlsym(c_null_ptr, '__contech_phase_begin' // c_null_char)
        if (.not. c_associated(found)) return
        call c_f_procpointer(found, the_mark)
        call the_mark(trim(name) // c_null_char)
    end subroutine

    subroutine contech_idle_begin()
        call call_mark('idle_begin')
    end subroutine

    subroutine contech_idle_end()
        call call_mark('idle_end')
    end subroutine

    subroutine contech_scheduling_begin()
        call call_mark('scheduling_begin')
    end subroutine

    subroutine contech_scheduling_end()
        call call_mark('scheduling_end')
    end subroutine

    subroutine contech_phase_end()
        call call_mark('phase_end')
    end subroutine

    subroutine contech_region_begin()
        call call_mark('region_begin')
    end subroutine

    subroutine contech_region_end()
        call call_mark('region_end')
    end subroutine
end module
