//! Every exported symbol: the contract with instrumented code, and the functions of the system that
//! this library stands in front of. Each is a stub that jumps to a function of its family's module; where
//! a number of arguments is given, the stub adds one more: the address of the caller, which says whose
//! call it is.

use std::arch::naked_asm;

use crate::{
    allocation, atomic, barrier, c11, condition, exec, exit, flush, fork, futex, handlers, jump,
    mapping, mutex, objects, ompt, once, operator_new, rwlock, semaphore, spin, threads,
};

macro_rules! exports {
    ($($name:ident $([$kind:ident $($count:tt)?])? = $target:path;)*) => {$(
        exports!(@ $name $([$kind $($count)?])? = $target);
    )*};
    (@ $name:ident = $target:path) => {
        exports!(# $name, $target, "jmp {target}");
    };
    (@ $name:ident [caller 0] = $target:path) => {
        exports!(# $name, $target, "mov rdi, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 1] = $target:path) => {
        exports!(# $name, $target, "mov rsi, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 2] = $target:path) => {
        exports!(# $name, $target, "mov rdx, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 3] = $target:path) => {
        exports!(# $name, $target, "mov rcx, qword ptr [rsp]", "jmp {target}");
    };
    (@ $name:ident [caller 4] = $target:path) => {
        exports!(# $name, $target, "mov r8, qword ptr [rsp]", "jmp {target}");
    };
    // Calls the target with the first argument, then jumps to the function it returns with all
    // arguments as they were: for functions whose arguments cannot be passed on, or that never return.
    (@ $name:ident [before] = $target:path) => {
        exports!(# $name, $target,
            "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "push rax",
            ".cfi_adjust_cfa_offset 56",
            "call {target}",
            "mov r11, rax",
            "pop rax", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
            ".cfi_adjust_cfa_offset -56",
            "jmp r11");
    };
    (# $name:ident, $target:path, $($line:literal),*) => {
        #[doc = concat!("Exported as `", stringify!($name), "`; see `", stringify!($target), "`.")]
        #[allow(non_snake_case, reason = "the symbol's name")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub(crate) extern "C-unwind" fn $name() {
            naked_asm!(".cfi_startproc", $($line,)* ".cfi_endproc", target = sym $target)
        }
    };
}

exports! {
    __contech_flush = flush::flush;
    __contech_check_flush = flush::check_flush;
    __contech_register = objects::register;
    __contech_unregister = objects::unregister;
    __contech_atomic_begin = atomic::begin;
    __contech_atomic_end [caller 4] = atomic::end;
    __contech_fence = atomic::fence;

    pthread_create [caller 4] = threads::pthread_create;
    pthread_join [caller 2] = threads::pthread_join;
    pthread_tryjoin_np [caller 2] = threads::tryjoin;
    pthread_timedjoin_np [caller 3] = threads::timedjoin;
    pthread_clockjoin_np [caller 4] = threads::clockjoin;
    pthread_detach = threads::pthread_detach;
    pthread_setcanceltype = threads::setcanceltype;
    pthread_exit [before] = threads::before_pthread_exit;

    pthread_mutex_init [caller 2] = mutex::init;
    pthread_mutex_destroy [caller 1] = mutex::destroy;
    pthread_mutex_lock [caller 1] = mutex::lock;
    pthread_mutex_trylock [caller 1] = mutex::trylock;
    pthread_mutex_timedlock [caller 2] = mutex::timedlock;
    pthread_mutex_clocklock [caller 3] = mutex::clocklock;
    pthread_mutex_unlock [caller 1] = mutex::unlock;

    pthread_rwlock_init [caller 2] = rwlock::init;
    pthread_rwlock_destroy [caller 1] = rwlock::destroy;
    pthread_rwlock_rdlock [caller 1] = rwlock::rdlock;
    pthread_rwlock_tryrdlock [caller 1] = rwlock::tryrdlock;
    pthread_rwlock_timedrdlock [caller 2] = rwlock::timedrdlock;
    pthread_rwlock_clockrdlock [caller 3] = rwlock::clockrdlock;
    pthread_rwlock_wrlock [caller 1] = rwlock::wrlock;
    pthread_rwlock_trywrlock [caller 1] = rwlock::trywrlock;
    pthread_rwlock_timedwrlock [caller 2] = rwlock::timedwrlock;
    pthread_rwlock_clockwrlock [caller 3] = rwlock::clockwrlock;
    pthread_rwlock_unlock [caller 1] = rwlock::unlock;

    pthread_spin_init [caller 2] = spin::init;
    pthread_spin_destroy [caller 1] = spin::destroy;
    pthread_spin_lock [caller 1] = spin::lock;
    pthread_spin_trylock [caller 1] = spin::trylock;
    pthread_spin_unlock [caller 1] = spin::unlock;

    pthread_cond_init [caller 2] = condition::init;
    pthread_cond_destroy [caller 1] = condition::destroy;
    pthread_cond_wait [caller 2] = condition::wait_for;
    pthread_cond_timedwait [caller 3] = condition::timedwait;
    pthread_cond_clockwait [caller 4] = condition::clockwait;
    pthread_cond_signal [caller 1] = condition::signal;
    pthread_cond_broadcast [caller 1] = condition::broadcast;

    pthread_barrier_init [caller 3] = barrier::init;
    pthread_barrier_destroy [caller 1] = barrier::destroy;
    pthread_barrier_wait [caller 1] = barrier::wait;

    sem_init [caller 3] = semaphore::init;
    sem_destroy [caller 1] = semaphore::destroy;
    sem_wait [caller 1] = semaphore::wait;
    sem_trywait [caller 1] = semaphore::trywait;
    sem_timedwait [caller 2] = semaphore::timedwait;
    sem_clockwait [caller 3] = semaphore::clockwait;
    sem_post [caller 1] = semaphore::post;

    pthread_once [caller 2] = once::pthread;

    thrd_create [caller 3] = threads::thrd_create;
    thrd_join [caller 2] = threads::thrd_join;
    thrd_detach = threads::thrd_detach;
    thrd_exit [before] = threads::before_thrd_exit;
    mtx_init [caller 2] = c11::mtx_init;
    mtx_destroy [caller 1] = c11::mtx_destroy;
    mtx_lock [caller 1] = c11::mtx_lock;
    mtx_trylock [caller 1] = c11::mtx_trylock;
    mtx_timedlock [caller 2] = c11::mtx_timedlock;
    mtx_unlock [caller 1] = c11::mtx_unlock;
    cnd_init [caller 1] = condition::c11_init;
    cnd_destroy [caller 1] = condition::c11_destroy;
    cnd_wait [caller 2] = condition::c11_wait;
    cnd_timedwait [caller 3] = condition::c11_timedwait;
    cnd_signal [caller 1] = condition::c11_signal;
    cnd_broadcast [caller 1] = condition::c11_broadcast;
    call_once [caller 2] = once::c11;

    ompt_start_tool = ompt::start_tool;
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

    sigaction = handlers::sigaction;
    signal = handlers::signal;
    bsd_signal = handlers::signal;
    ssignal = handlers::signal;
    sysv_signal = handlers::sysv_signal;
    __sysv_signal = handlers::sysv_signal;
    sigset = handlers::sigset;
    sigignore = handlers::sigignore;
    longjmp [before] = jump::before_longjmp;
    _longjmp [before] = jump::before_underscore_longjmp;
    siglongjmp [before] = jump::before_siglongjmp;
    __longjmp_chk [before] = jump::before_longjmp_chk;

    syscall = futex::syscall;

    fork [caller 0] = fork::fork;
    _exit = exit::underscore_exit;
    _Exit = exit::underscore_exit;
    execve = exec::execve;
    execv = exec::execv;
    execvp = exec::execvp;
    execvpe = exec::execvpe;
    fexecve = exec::fexecve;
    execveat = exec::execveat;
    execl [before] = exec::before_execl;
    execlp [before] = exec::before_execlp;
    execle [before] = exec::before_execle;
}
