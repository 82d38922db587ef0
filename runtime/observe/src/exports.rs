//! Every exported symbol: the functions this library stands in front of. A number is that of the arguments: the address
//! of the caller is added as one more. Those whose cost counts are naked, where they are: see `locks`, `futex`, `openmp`.

use contech_guest::exports;

use crate::{api, finish, locks, openmp, signals, threads, waits};

exports! {
    pthread_create [caller 4] = threads::pthread_create;
    pthread_join [caller 2] = threads::pthread_join;
    pthread_tryjoin_np [caller 2] = threads::pthread_tryjoin_np;
    pthread_timedjoin_np [caller 3] = threads::pthread_timedjoin_np;
    pthread_clockjoin_np [caller 4] = threads::pthread_clockjoin_np;
    pthread_detach = threads::pthread_detach;
    thrd_create [caller 3] = threads::thrd_create;
    thrd_join [caller 2] = threads::thrd_join;
    thrd_detach = threads::thrd_detach;

    pthread_mutex_timedlock [caller 2] = locks::mutex_timed;
    pthread_mutex_clocklock [caller 3] = locks::mutex_clock;
    pthread_rwlock_rdlock [caller 1] = locks::read;
    pthread_rwlock_timedrdlock [caller 2] = locks::read_timed;
    pthread_rwlock_clockrdlock [caller 3] = locks::read_clock;
    pthread_rwlock_wrlock [caller 1] = locks::write;
    pthread_rwlock_timedwrlock [caller 2] = locks::write_timed;
    pthread_rwlock_clockwrlock [caller 3] = locks::write_clock;
    pthread_spin_lock [caller 1] = locks::spin;
    mtx_lock [caller 1] = locks::c11;
    mtx_timedlock [caller 2] = locks::c11_timed;
    omp_set_lock [caller 1] = locks::omp;
    omp_set_lock_ [caller 1] = locks::omp_fortran;

    pthread_cond_wait [caller 2] = waits::condition;
    pthread_cond_timedwait [caller 3] = waits::condition_timed;
    pthread_cond_clockwait [caller 4] = waits::condition_clock;
    cnd_wait [caller 2] = waits::c11;
    cnd_timedwait [caller 3] = waits::c11_timed;
    pthread_barrier_wait [caller 1] = waits::barrier;
    sem_wait [caller 1] = waits::semaphore;
    sem_timedwait [caller 2] = waits::semaphore_timed;
    sem_clockwait [caller 3] = waits::semaphore_clock;
    nanosleep [caller 2] = waits::nanosleep;
    clock_nanosleep [caller 4] = waits::clock_nanosleep;
    usleep [caller 1] = waits::usleep;
    sleep [caller 1] = waits::sleep;
    poll [caller 3] = waits::poll;
    epoll_wait [caller 4] = waits::epoll_wait;
    select [caller 5] = waits::select;
    sched_yield [caller 0] = waits::sched_yield;
    thrd_sleep [caller 2] = waits::c11_sleep;

    __contech_idle_begin = api::idle_begin;
    __contech_idle_end = api::idle_end;
    __contech_scheduling_begin = api::scheduling_begin;
    __contech_scheduling_end = api::scheduling_end;
    __contech_phase_begin = api::phase_begin;
    __contech_phase_end = api::phase_end;
    __contech_region_begin = api::region_begin;
    __contech_region_end = api::region_end;

    ompt_start_tool = openmp::start_tool;

    sigaction = signals::sigaction;
    signal = signals::signal;
    bsd_signal = signals::signal;
    ssignal = signals::signal;
    _exit = finish::underscore_exit;
    _Exit = finish::underscore_exit;
}
