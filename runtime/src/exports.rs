//! Every exported symbol except those of [`crate::functions`], [`crate::mpi`] and
//! [`crate::contract`], and those that a list beside their hook exports (`operator_new`, `jump`,
//! `channel::stdio`): the functions of the system that only the recorder stands in front of.

use crate::{active, allocation, fork, library, mapping, ompt, sandbox, threads};
use contech_interpose::exports;

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

    malloc [after size] = allocation::malloc;
    calloc [after count size] = allocation::calloc;
    realloc [after old size] = allocation::realloc;
    reallocarray [after old count size] = allocation::reallocarray;
    free [after block] = allocation::free;
    posix_memalign = allocation::posix_memalign;
    aligned_alloc = allocation::aligned_alloc;
    memalign = allocation::memalign;
    valloc = allocation::valloc;
    mmap = mapping::mmap;
    mmap64 = mapping::mmap;
    munmap = mapping::munmap;
    mremap = mapping::mremap;

    prctl = sandbox::prctl;

    fork [after] = fork::fork;
}
