//! Every exported symbol except those of [`crate::functions`] and [`crate::contract`]: the
//! functions of the system that only the recorder stands in front of.

use crate::{
    active, allocation, channel, fork, jump, library, mapping, mpi, ompt, operator_new, sandbox,
    threads,
};
use contech_interpose::{exports, for_each_mpi_function};

exports! {
    pthread_setcanceltype = threads::setcanceltype;
    pthread_exit [before] = threads::before_pthread_exit;
    thrd_exit [before] = threads::before_thrd_exit;

    __contech_region_begin = active::region_begin;
    __contech_region_end = active::region_end;

    __contech_library_enter = library::enter;
    __contech_library_leave = library::leave;
    __contech_task_create = library::create_task;
    __contech_task_create_detached = library::create_detached;
    __contech_task_begin = library::begin;
    __contech_task_end = library::end;
    __contech_task_group = library::begin_group;
    __contech_task_order = library::order;
    __contech_turns_create = library::create_turns;
    __contech_turns_own = library::own_turns;
    __contech_turns_begin = library::begin_turn;
    __contech_turns_end = library::end_turn;
    __contech_turns_wake = library::wake_turns;

    __kmpc_omp_task_begin_if0 [before] = ompt::before_begin_if0;

    malloc [caller 1] = allocation::malloc;
    calloc [caller 2] = allocation::calloc;
    realloc [caller 2] = allocation::realloc;
    reallocarray [caller 3] = allocation::reallocarray;
    free [caller 1] = allocation::free;
    posix_memalign = allocation::posix_memalign;
    aligned_alloc = allocation::aligned_alloc;
    memalign = allocation::memalign;
    valloc = allocation::valloc;
    mmap = mapping::mmap;
    mmap64 = mapping::mmap;
    munmap = mapping::munmap;
    mremap = mapping::mremap;

    _Znwm = operator_new::one;
    _Znam = operator_new::many;
    _ZnwmRKSt9nothrow_t = operator_new::one_nothrow;
    _ZnamRKSt9nothrow_t = operator_new::many_nothrow;
    _ZnwmSt11align_val_t = operator_new::one_aligned;
    _ZnamSt11align_val_t = operator_new::many_aligned;
    _ZnwmSt11align_val_tRKSt9nothrow_t = operator_new::one_aligned_nothrow;
    _ZnamSt11align_val_tRKSt9nothrow_t = operator_new::many_aligned_nothrow;
    _ZdlPv = operator_new::drop_one;
    _ZdaPv = operator_new::drop_many;
    _ZdlPvm = operator_new::drop_one_sized;
    _ZdaPvm = operator_new::drop_many_sized;
    _ZdlPvSt11align_val_t = operator_new::drop_one_aligned;
    _ZdaPvSt11align_val_t = operator_new::drop_many_aligned;
    _ZdlPvmSt11align_val_t = operator_new::drop_one_sized_aligned;
    _ZdaPvmSt11align_val_t = operator_new::drop_many_sized_aligned;
    _ZdlPvRKSt9nothrow_t = operator_new::drop_one_nothrow;
    _ZdaPvRKSt9nothrow_t = operator_new::drop_many_nothrow;
    _ZdlPvSt11align_val_tRKSt9nothrow_t = operator_new::drop_one_aligned_nothrow;
    _ZdaPvSt11align_val_tRKSt9nothrow_t = operator_new::drop_many_aligned_nothrow;

    fprintf [before] = channel::before_fprintf;
    __fprintf_chk [before] = channel::before_fprintf_chk;
    fscanf [before] = channel::before_fscanf;
    __isoc99_fscanf [before] = channel::before_isoc99_fscanf;

    longjmp [before] = jump::before_longjmp;
    _longjmp [before] = jump::before_underscore_longjmp;
    siglongjmp [before] = jump::before_siglongjmp;
    __longjmp_chk [before] = jump::before_longjmp_chk;

    prctl = sandbox::prctl;

    fork [caller 0] = fork::fork;
}

macro_rules! record_mpi {
    ($($name:ident $profiled:ident $exported:ident: [$module:ident $function:ident] $state:tt;)*) => {
        exports! { $($exported = mpi::$module::$function;)* }
    };
}

for_each_mpi_function!(record_mpi!);
