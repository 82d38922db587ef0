//! The life of the process that a library is in: how it ends (an exit, another program, a signal),
//! what its threads and its signal handlers do, and how it forks. [`life`](crate::life!) puts a
//! [`Life`] in front of the functions by which a program does so.
//!
//! The program sees what it would see without the library: exit status, signal handlers, results.

pub mod exec;
pub mod fatal;
pub mod signals;

use std::ffi::{c_char, c_int, c_long, c_void};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering::Relaxed};

use libc::{sigaction, ucontext_t};

use crate::{arch, memory, real_functions};

/// A list of strings ended by null.
pub type Strings = *const *const c_char;

real_functions! {
    sigaction: (c_int, *const sigaction, *mut sigaction) -> c_int;
    _exit: (c_int) -> !;
    execve: (*const c_char, Strings, Strings) -> c_int;
    execv: (*const c_char, Strings) -> c_int;
    execvp: (*const c_char, Strings) -> c_int;
    execvpe: (*const c_char, Strings, Strings) -> c_int;
    fexecve: (c_int, Strings, Strings) -> c_int;
    execveat: (c_int, *const c_char, Strings, Strings, c_int) -> c_int;
    execl: () -> c_int;
    execlp: () -> c_int;
    execle: () -> c_int;
}

/// How a program ends that no signal ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It exits. There may be several such calls, of which the last one comes after all handlers of
    /// exits.
    Exit,
    /// Another program is to replace it. If that fails, this one goes on.
    Exec,
}

/// A signal whose default action ends the process.
#[derive(Debug, Clone, Copy)]
pub struct Fatal<'a> {
    /// Its number.
    pub signal: c_int,
    /// Whether the process itself has sent it.
    pub own: bool,
    /// The code that it interrupted.
    pub context: &'a ucontext_t,
}

/// What a library does about the life of its process. None of these functions may unwind.
pub trait Life {
    /// Whether the program's handlers run in [`Life::handle`].
    const HANDLES: bool = false;

    /// Whether this is the process that the library works in, and no copy of it.
    fn is_at_home() -> bool {
        is_at_home()
    }

    /// The program ends.
    fn end(end: End);

    /// A signal is about to end the process. All signals are blocked, and the calling thread has a
    /// stack of [`signals::STACK`] bytes for this. Only called after [`signals::install`].
    fn killed(_fatal: &Fatal) {}

    /// The program is about to install its handler of a signal.
    fn install(_signal: c_int, _handler: usize) {}

    /// Runs a handler of the program, if [`Life::HANDLES`] says so. `here` is the address of the
    /// handler's frame.
    fn handle(_signal: c_int, _context: *mut c_void, _here: usize, handler: impl FnOnce()) {
        handler();
    }

    /// The calling thread ends. This is called several times, because the program's destructors may
    /// run in between; `last` says that none will run any more.
    fn thread_ends(_last: bool) {}

    /// The calling thread ends itself by a system call, which the C library does not see.
    fn thread_leaves() {
        Self::thread_ends(true);
    }

    /// Makes a system call of the program's `syscall` that may wait (`SYS_futex`), forbid others
    /// (`SYS_seccomp`) or order (`SYS_io_uring_enter`).
    fn system_call(
        _number: c_long,
        _arguments: [usize; 6],
        _caller: usize,
        call: impl FnOnce() -> c_long,
    ) -> c_long {
        call()
    }

    /// The calling thread is about to fork by the C library's function.
    fn fork_begins() {}

    /// It has done so, or failed, and this is the child or the parent.
    fn fork_ends(_child: bool) {}
}

/// The process in which [`begin`] was called.
static HOME: AtomicU32 = AtomicU32::new(0);

/// Says that the library works in this process.
pub fn begin() {
    HOME.store(memory::process_id(), Relaxed);
}

/// Whether this is the process in which [`begin`] was called. The kernel is asked, because the
/// child of a vfork shares the memory.
#[must_use]
pub fn is_at_home() -> bool {
    HOME.load(Relaxed) == memory::process_id()
}

/// Registers handlers of forks, when the library is loaded. They are the first to be registered, so
/// they run closest to the fork.
pub extern "C" fn watch_forks<L: Life>() {
    unsafe extern "C" fn before<L: Life>() {
        L::fork_begins();
    }
    unsafe extern "C" fn parent<L: Life>() {
        L::fork_ends(false);
    }
    unsafe extern "C" fn child<L: Life>() {
        L::fork_ends(true);
    }
    // SAFETY: the functions take no arguments and live for ever.
    unsafe { libc::pthread_atfork(Some(before::<L>), Some(parent::<L>), Some(child::<L>)) };
}

/// Rounds of thread-specific destructors that the C library makes (PTHREAD_DESTRUCTOR_ITERATIONS).
const ROUNDS: usize = 4;
/// The key whose destructor runs at the end of every watched thread; -1 before there is one.
static KEY: AtomicI32 = AtomicI32::new(-1);

/// Prepares to see the ends of threads. This should come as early as possible, because low keys
/// need no memory in their threads.
pub fn watch_threads<L: Life>() {
    let mut key: libc::pthread_key_t = 0;
    if KEY.load(Relaxed) < 0
        // SAFETY: the pointer is to a live key; the destructor takes what `set_rounds` sets.
        && unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends::<L>)) } == 0
    {
        KEY.store(c_int::try_from(key).unwrap_or(-1), Relaxed);
    }
}

/// Lets the calling thread's end be seen, however it ends.
pub fn watch_this_thread() {
    set_rounds(ROUNDS);
}

fn set_rounds(rounds: usize) {
    if let Ok(key) = libc::pthread_key_t::try_from(KEY.load(Relaxed)) {
        // SAFETY: `watch_threads` made the key; the value is a number.
        unsafe { libc::pthread_setspecific(key, std::ptr::without_provenance(rounds)) };
    }
}

/// Asks to be called again until the last round.
unsafe extern "C" fn thread_ends<L: Life>(rounds: *mut c_void) {
    let last = rounds.addr() <= 1;
    L::thread_ends(last);
    if !last {
        set_rounds(rounds.addr() - 1);
    }
}

unsafe extern "C" {
    fn __cxa_at_quick_exit(handler: unsafe extern "C" fn(*mut c_void), dso: *mut c_void) -> c_int;
}

/// Lets the library see the end of the process by `quick_exit`. Handlers of it run in reverse
/// order, so one that is registered before main runs last. The other ends are seen without this.
pub fn watch_quick_exit<L: Life>() {
    static WATCHED: AtomicBool = AtomicBool::new(false);
    if !WATCHED.swap(true, Relaxed) {
        // SAFETY: the handler lives for ever and ignores its argument.
        unsafe { __cxa_at_quick_exit(at_quick_exit::<L>, std::ptr::null_mut()) };
    }
}

unsafe extern "C" fn at_quick_exit<L: Life>(_: *mut c_void) {
    L::end(End::Exit);
}

/// Runs when the library is finished. Objects are finished in reverse order of their dependence, so
/// it is after all that use it.
pub extern "C" fn at_exit<L: Life>() {
    L::end(End::Exit);
}

/// Stands in for `_exit` and `_Exit`.
///
/// # Safety
/// The program calls it.
pub unsafe extern "C-unwind" fn underscore_exit<L: Life>(status: c_int) -> ! {
    L::end(End::Exit);
    // SAFETY: the caller's status is passed on.
    unsafe { (real()._exit)(status) }
}

/// Stands in for `syscall` of the numbers that [`life`](crate::life!) lists.
///
/// # Safety
/// The program calls it.
#[allow(clippy::too_many_arguments, reason = "the system call's")]
pub unsafe extern "C-unwind" fn calls_system<L: Life>(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    caller: usize,
) -> c_long {
    match number {
        libc::SYS_exit => L::thread_leaves(),
        libc::SYS_exit_group => L::end(End::Exit),
        libc::SYS_execve | libc::SYS_execveat if L::is_at_home() => L::end(End::Exec),
        _ => {}
    }
    L::system_call(number, [a, b, c, d, e, f], caller, || {
        // SAFETY: the caller's arguments are passed on.
        unsafe { arch::system_call(number, a, b, c, d, e, f) }
    })
}

/// Whether the program runs with more rights than its caller (setuid, file capabilities). Then no
/// file may be written that the caller's environment names.
#[must_use]
pub fn is_privileged() -> bool {
    // SAFETY: the call reads the kernel's auxiliary vector.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Exports the functions by which a program ends, replaces itself and handles signals, for a type
/// that implements [`Life`](crate::life::Life).
#[macro_export]
macro_rules! life {
    ($life:ty) => {
        #[used]
        #[unsafe(link_section = ".fini_array")]
        static AT_EXIT: extern "C" fn() = $crate::life::at_exit::<$life>;
        #[used]
        #[unsafe(link_section = ".init_array")]
        static AT_FORK: extern "C" fn() = $crate::life::watch_forks::<$life>;

        $crate::export_syscall! {
            $crate::life::calls_system::<$life>:
                futex = ::libc::SYS_futex,
                seccomp = ::libc::SYS_seccomp,
                io_uring_enter = ::libc::SYS_io_uring_enter,
                exit = ::libc::SYS_exit,
                exit_group = ::libc::SYS_exit_group,
                execve = ::libc::SYS_execve,
                execveat = ::libc::SYS_execveat
        }
        $crate::life! { @ [$life]
            _exit [] underscore_exit;
            _Exit [] underscore_exit;
            execve [] exec::execve;
            execv [] exec::execv;
            execvp [] exec::execvp;
            execvpe [] exec::execvpe;
            fexecve [] exec::fexecve;
            execveat [] exec::execveat;
            execl [before] exec::before_execl;
            execlp [before] exec::before_execlp;
            execle [before] exec::before_execle;
            sigaction [] signals::sigaction;
            signal [] signals::signal;
            bsd_signal [] signals::signal;
            ssignal [] signals::signal;
            sysv_signal [] signals::sysv_signal;
            __sysv_signal [] signals::sysv_signal;
            sigset [] signals::sigset;
            sigignore [] signals::sigignore;
        }
    };
    (@ [$life:ty] $($name:ident $kind:tt $function:ident $(:: $rest:ident)*;)*) => {$(
        $crate::exports!(@ $name $kind $crate::life::$function $(:: $rest)*::<$life>);
    )*};
}
