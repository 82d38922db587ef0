//! The functions of the C library that recorder and observer intercept.

use std::ffi::c_int;

use crate::memory::Errno;
use crate::threads::Ptr;

pub type Time = *const libc::timespec;
/// The function that `pthread_once` runs.
pub type Routine = unsafe extern "C-unwind" fn();

/// Expands `$listener!` with a row for every function in which threads wait, synchronise, begin or
/// end:
///
/// ```text
/// name @ "version of the symbol" (argument: type, ...) -> result: [what it does] [what a thread does that waits in it];
/// ```
///
/// The first bracket is for the recorder, the second for the observer. A new function needs one row
/// here, if it does the same as one of the others. The first argument is the object.
///
/// | what it does | recorded |
/// |---|---|
/// | `join`, `detach` | what its [`Threads`](crate::threads::Threads) do |
/// | `create`, `create with ARGUMENT` | a new object, with a number |
/// | `destroy` | the end of an object |
/// | `acquire FAMILY OP` | OP, or that it was in vain |
/// | `acquire FAMILY OP TRY` | the same; tried with TRY first, which takes a free object |
/// | `attempt FAMILY OP` | the same, of a function that does not wait |
/// | `release OP` | OP, if the call succeeds |
/// | `wait` | a condition is waited for |
/// | `sleep` | the thread waits for time, or for something outside of the program |
/// | `send` | something goes through a descriptor |
/// | `receive` | something comes through a descriptor, if the result is not negative |
/// | `thread WHAT ARGUMENTS` | WHAT of the recorder, which gets the thread, these arguments and the call |
/// | `file WHAT ARGUMENTS` | the same, which does not get the thread |
/// | `stream WHAT STREAM` | WHAT of the recorder, if a stream of the C library may order |
/// | `signal NUMBER` | a signal is sent |
/// | `take` | a signal comes, which is the result |
/// | `own MODULE` | whatever the listener's function of that name does |
/// | nothing | nothing |
///
/// The wait states are those of the observation; `own MODULE`, `join` and `detach` have the same
/// meaning as above; an empty bracket means that the function is not observed. TRY must end as the
/// function itself would end, or say that the object is busy. Functions with a time have none,
/// because they refuse a wrong time first. Each [`Family`] reports results in its own way.
///
/// Text in braces before the name of the listener is passed on to the listener.
#[macro_export]
macro_rules! for_each_function {
    ($listener:ident! $({$($own:tt)*})?) => { $listener! { $({$($own)*})?
        pthread_create(handle: *mut usize, attributes: Ptr, body: Body, argument: Ptr) -> c_int: [own threads] [own threads];
        pthread_join(thread: usize, value: *mut Ptr) -> c_int: [join] [join];
        pthread_tryjoin_np(thread: usize, value: *mut Ptr) -> c_int: [join] [join];
        pthread_timedjoin_np(thread: usize, value: *mut Ptr, until: Time) -> c_int: [join] [join];
        pthread_clockjoin_np(thread: usize, value: *mut Ptr, clock: c_int, until: Time) -> c_int: [join] [join];
        pthread_detach(thread: usize) -> c_int: [detach] [detach];
        thrd_create(handle: *mut usize, body: Body11, argument: Ptr) -> c_int: [own threads] [own threads];
        thrd_join(thread: usize, value: *mut c_int) -> c_int: [join] [join];
        thrd_detach(thread: usize) -> c_int: [detach] [detach];

        pthread_mutex_init(mutex: Ptr, attributes: Ptr) -> c_int: [create] [];
        pthread_mutex_destroy(mutex: Ptr) -> c_int: [destroy] [];
        pthread_mutex_lock(mutex: Ptr) -> c_int: [acquire Posix MutexLock pthread_mutex_trylock] [own locks];
        pthread_mutex_trylock(mutex: Ptr) -> c_int: [attempt Posix MutexLock] [];
        pthread_mutex_timedlock(mutex: Ptr, until: Time) -> c_int: [acquire Posix MutexLock] [Lock];
        pthread_mutex_clocklock(mutex: Ptr, clock: c_int, until: Time) -> c_int: [acquire Posix MutexLock] [Lock];
        pthread_mutex_unlock(mutex: Ptr) -> c_int: [release MutexUnlock] [own locks];

        mtx_init(mutex: Ptr, kind: c_int) -> c_int: [create] [];
        mtx_destroy(mutex: Ptr): [destroy] [];
        mtx_lock(mutex: Ptr) -> c_int: [acquire C11 MutexLock mtx_trylock] [Lock];
        mtx_trylock(mutex: Ptr) -> c_int: [attempt C11 MutexLock] [];
        mtx_timedlock(mutex: Ptr, until: Time) -> c_int: [acquire C11 MutexLock] [Lock];
        mtx_unlock(mutex: Ptr) -> c_int: [release MutexUnlock] [];

        pthread_rwlock_init(lock: Ptr, attributes: Ptr) -> c_int: [create] [];
        pthread_rwlock_destroy(lock: Ptr) -> c_int: [destroy] [];
        pthread_rwlock_rdlock(lock: Ptr) -> c_int: [acquire Posix RwRead pthread_rwlock_tryrdlock] [Lock];
        pthread_rwlock_tryrdlock(lock: Ptr) -> c_int: [attempt Posix RwRead] [];
        pthread_rwlock_timedrdlock(lock: Ptr, until: Time) -> c_int: [acquire Posix RwRead] [Lock];
        pthread_rwlock_clockrdlock(lock: Ptr, clock: c_int, until: Time) -> c_int: [acquire Posix RwRead] [Lock];
        pthread_rwlock_wrlock(lock: Ptr) -> c_int: [acquire Posix RwWrite pthread_rwlock_trywrlock] [Lock];
        pthread_rwlock_trywrlock(lock: Ptr) -> c_int: [attempt Posix RwWrite] [];
        pthread_rwlock_timedwrlock(lock: Ptr, until: Time) -> c_int: [acquire Posix RwWrite] [Lock];
        pthread_rwlock_clockwrlock(lock: Ptr, clock: c_int, until: Time) -> c_int: [acquire Posix RwWrite] [Lock];
        pthread_rwlock_unlock(lock: Ptr) -> c_int: [release RwUnlock] [];

        pthread_spin_init(lock: Ptr, shared: c_int) -> c_int: [create] [];
        pthread_spin_destroy(lock: Ptr) -> c_int: [destroy] [];
        pthread_spin_lock(lock: Ptr) -> c_int: [acquire Posix SpinLock pthread_spin_trylock] [Spin];
        pthread_spin_trylock(lock: Ptr) -> c_int: [attempt Posix SpinLock] [];
        pthread_spin_unlock(lock: Ptr) -> c_int: [release SpinUnlock] [];

        sem_init(semaphore: Ptr, shared: c_int, value: c_uint) -> c_int: [create with value] [];
        sem_destroy(semaphore: Ptr) -> c_int: [destroy] [];
        sem_wait(semaphore: Ptr) -> c_int: [acquire Semaphore SemWait sem_trywait] [Condition];
        sem_trywait(semaphore: Ptr) -> c_int: [attempt Semaphore SemWait] [];
        sem_timedwait(semaphore: Ptr, until: Time) -> c_int: [acquire Semaphore SemWait] [Condition];
        sem_clockwait(semaphore: Ptr, clock: c_int, until: Time) -> c_int: [acquire Semaphore SemWait] [Condition];
        sem_post(semaphore: Ptr) -> c_int: [release SemPost] [];

        // The C library has older versions of these functions for old programs, whose conditions
        // have another layout.
        pthread_cond_init @ "GLIBC_2.3.2" (condition: Ptr, attributes: Ptr) -> c_int: [create] [];
        pthread_cond_destroy @ "GLIBC_2.3.2" (condition: Ptr) -> c_int: [destroy] [];
        pthread_cond_wait @ "GLIBC_2.3.2" (condition: Ptr, mutex: Ptr) -> c_int: [wait] [Condition];
        pthread_cond_timedwait @ "GLIBC_2.3.2" (condition: Ptr, mutex: Ptr, until: Time) -> c_int: [wait] [Condition];
        pthread_cond_clockwait(condition: Ptr, mutex: Ptr, clock: c_int, until: Time) -> c_int: [wait] [Condition];
        pthread_cond_signal @ "GLIBC_2.3.2" (condition: Ptr) -> c_int: [release CondSignal] [];
        pthread_cond_broadcast @ "GLIBC_2.3.2" (condition: Ptr) -> c_int: [release CondBroadcast] [];
        cnd_init(condition: Ptr) -> c_int: [create] [];
        cnd_destroy(condition: Ptr): [destroy] [];
        cnd_wait(condition: Ptr, mutex: Ptr) -> c_int: [wait] [Condition];
        cnd_timedwait(condition: Ptr, mutex: Ptr, until: Time) -> c_int: [wait] [Condition];
        cnd_signal(condition: Ptr) -> c_int: [release CondSignal] [];
        cnd_broadcast(condition: Ptr) -> c_int: [release CondBroadcast] [];

        pthread_barrier_init(barrier: Ptr, attributes: Ptr, count: c_uint) -> c_int: [create with count] [];
        pthread_barrier_destroy(barrier: Ptr) -> c_int: [destroy] [];
        pthread_barrier_wait(barrier: Ptr) -> c_int: [own barrier] [Barrier];

        pthread_once(once: Ptr, routine: Routine) -> c_int: [own once] [];
        call_once(once: Ptr, routine: Routine): [own once] [];

        nanosleep(span: Time, left: *mut timespec) -> c_int: [sleep] [Sleep];
        clock_nanosleep(clock: c_int, flags: c_int, until: Time, left: *mut timespec) -> c_int: [sleep] [Sleep];
        usleep(span: c_uint) -> c_int: [sleep] [Sleep];
        sleep(span: c_uint) -> c_uint: [sleep] [Sleep];
        thrd_sleep(span: Time, left: *mut timespec) -> c_int: [sleep] [Sleep];
        poll(list: Ptr, count: usize, span: c_int) -> c_int: [thread ready list count] [Idle];
        epoll_ctl(set: c_int, what: c_int, file: c_int, event: Ptr) -> c_int: [file watches set what file event] [];
        epoll_wait(set: c_int, list: Ptr, count: c_int, span: c_int) -> c_int: [thread announced set list] [Idle];
        select(count: c_int, read: Ptr, write: Ptr, except: Ptr, span: Ptr) -> c_int: [thread selected count read] [Idle];
        pselect(count: c_int, read: Ptr, write: Ptr, except: Ptr, span: Time, mask: Ptr) -> c_int: [thread selected count read] [];
        ppoll(list: Ptr, count: usize, span: Time, mask: Ptr) -> c_int: [thread ready list count] [Idle];
        epoll_pwait(set: c_int, list: Ptr, count: c_int, span: c_int, mask: Ptr) -> c_int: [thread announced set list] [Idle];
        sched_yield() -> c_int: [] [own waits];

        socketpair(domain: c_int, kind: c_int, protocol: c_int, pair: *mut [c_int; 2]) -> c_int: [file pairs pair] [];
        listen(file: c_int, waiting: c_int) -> c_int: [thread listens file] [];
        connect(file: c_int, to: Ptr, length: c_uint) -> c_int: [thread connects to length] [];
        accept(file: c_int, from: Ptr, length: Ptr) -> c_int: [thread accepts file] [];
        accept4(file: c_int, from: Ptr, length: Ptr, flags: c_int) -> c_int: [thread accepts file] [];
        dup(file: c_int) -> c_int: [file duplicates file] [];
        dup2(file: c_int, other: c_int) -> c_int: [file duplicates file] [];
        dup3(file: c_int, other: c_int, flags: c_int) -> c_int: [file duplicates file] [];
        fcntl(file: c_int, what: c_int, argument: usize) -> c_int: [file controls file what] [];
        fcntl64(file: c_int, what: c_int, argument: usize) -> c_int: [file controls file what] [];
        write(file: c_int, from: Ptr, size: usize) -> isize: [own channel] [];
        writev(file: c_int, list: Ptr, count: c_int) -> isize: [send] [];
        send(file: c_int, from: Ptr, size: usize, flags: c_int) -> isize: [send] [];
        sendto(file: c_int, from: Ptr, size: usize, flags: c_int, to: Ptr, length: c_uint) -> isize: [send] [];
        sendmsg(file: c_int, message: Ptr, flags: c_int) -> isize: [send] [];
        eventfd_write(file: c_int, number: u64) -> c_int: [send] [];
        timerfd_settime(file: c_int, flags: c_int, new: Ptr, old: Ptr) -> c_int: [send] [];
        shutdown(file: c_int, how: c_int) -> c_int: [send] [];
        close(file: c_int) -> c_int: [own channel] [];
        read(file: c_int, to: Ptr, size: usize) -> isize: [own channel] [];
        __read_chk(file: c_int, to: Ptr, size: usize, room: usize) -> isize: [receive] [];
        readv(file: c_int, list: Ptr, count: c_int) -> isize: [receive] [];
        recv(file: c_int, to: Ptr, size: usize, flags: c_int) -> isize: [receive] [];
        __recv_chk(file: c_int, to: Ptr, size: usize, room: usize, flags: c_int) -> isize: [receive] [];
        recvfrom(file: c_int, to: Ptr, size: usize, flags: c_int, from: Ptr, length: Ptr) -> isize: [receive] [];
        recvmsg(file: c_int, message: Ptr, flags: c_int) -> isize: [receive] [];
        eventfd_read(file: c_int, number: Ptr) -> c_int: [receive] [];
        sendfile(file: c_int, from: c_int, offset: Ptr, size: usize) -> isize: [send] [];
        sendfile64(file: c_int, from: c_int, offset: Ptr, size: usize) -> isize: [send] [];
        splice(from: c_int, from_at: Ptr, to: c_int, to_at: Ptr, size: usize, flags: c_uint) -> isize: [thread moves from to] [];
        tee(from: c_int, to: c_int, size: usize, flags: c_uint) -> isize: [thread moves from to] [];
        mq_send(queue: c_int, message: Ptr, size: usize, priority: c_uint) -> c_int: [thread enqueues queue true] [];
        mq_timedsend(queue: c_int, message: Ptr, size: usize, priority: c_uint, until: Time) -> c_int: [thread enqueues queue true] [];
        mq_receive(queue: c_int, message: Ptr, size: usize, priority: Ptr) -> isize: [thread dequeues queue true] [];
        mq_timedreceive(queue: c_int, message: Ptr, size: usize, priority: Ptr, until: Time) -> isize: [thread dequeues queue true] [];
        msgsnd(queue: c_int, message: Ptr, size: usize, flags: c_int) -> c_int: [thread enqueues queue false] [];
        msgrcv(queue: c_int, message: Ptr, size: usize, kind: isize, flags: c_int) -> isize: [thread dequeues queue false] [];
        semop(set: c_int, list: Ptr, count: usize) -> c_int: [thread operates set list count] [];
        semtimedop(set: c_int, list: Ptr, count: usize, span: Time) -> c_int: [thread operates set list count] [];
        semctl(set: c_int, number: c_int, what: c_int, value: usize) -> c_int: [thread sets set what] [];
        signalfd(file: c_int, set: Ptr, flags: c_int) -> c_int: [file gathers set] [];
        aio_read(block: Ptr) -> c_int: [thread starts block false] [];
        aio_write(block: Ptr) -> c_int: [thread starts block true] [];
        aio_fsync(how: c_int, block: Ptr) -> c_int: [thread starts block false] [];
        aio_error(block: Ptr) -> c_int: [thread asks block] [];
        aio_return(block: Ptr) -> isize: [thread finishes block] [];
        aio_suspend(list: Ptr, count: c_int, span: Time) -> c_int: [thread awaits list count] [];
        lio_listio(mode: c_int, list: Ptr, count: c_int, how: Ptr) -> c_int: [thread lists mode list count how] [];
        aio_read64(block: Ptr) -> c_int: [thread starts block false] [];
        aio_write64(block: Ptr) -> c_int: [thread starts block true] [];
        aio_fsync64(how: c_int, block: Ptr) -> c_int: [thread starts block false] [];
        aio_error64(block: Ptr) -> c_int: [thread asks block] [];
        aio_return64(block: Ptr) -> isize: [thread finishes block] [];
        aio_suspend64(list: Ptr, count: c_int, span: Time) -> c_int: [thread awaits list count] [];
        lio_listio64(mode: c_int, list: Ptr, count: c_int, how: Ptr) -> c_int: [thread lists mode list count how] [];

        fdopen(file: c_int, mode: Ptr) -> Ptr: [file opens] [];
        fopen(path: Ptr, mode: Ptr) -> Ptr: [file opens] [];
        fopen64(path: Ptr, mode: Ptr) -> Ptr: [file opens] [];
        fclose(stream: Ptr) -> c_int: [stream closes stream] [];
        fflush(stream: Ptr) -> c_int: [stream puts stream] [];
        fwrite(from: Ptr, size: usize, count: usize, stream: Ptr) -> usize: [stream puts stream] [];
        fputs(text: Ptr, stream: Ptr) -> c_int: [stream puts stream] [];
        fputc(byte: c_int, stream: Ptr) -> c_int: [stream puts stream] [];
        putc(byte: c_int, stream: Ptr) -> c_int: [stream puts stream] [];
        vfprintf(stream: Ptr, format: Ptr, list: Ptr) -> c_int: [stream puts stream] [];
        __vfprintf_chk(stream: Ptr, flags: c_int, format: Ptr, list: Ptr) -> c_int: [stream puts stream] [];
        fread(to: Ptr, size: usize, count: usize, stream: Ptr) -> usize: [stream gets stream] [];
        __fread_chk(to: Ptr, room: usize, size: usize, count: usize, stream: Ptr) -> usize: [stream gets stream] [];
        fgets(to: Ptr, size: c_int, stream: Ptr) -> Ptr: [stream gets stream] [];
        __fgets_chk(to: Ptr, room: usize, size: c_int, stream: Ptr) -> Ptr: [stream gets stream] [];
        fgetc(stream: Ptr) -> c_int: [stream gets stream] [];
        getc(stream: Ptr) -> c_int: [stream gets stream] [];
        getline(line: Ptr, size: Ptr, stream: Ptr) -> isize: [stream gets stream] [];
        getdelim(line: Ptr, size: Ptr, end: c_int, stream: Ptr) -> isize: [stream gets stream] [];
        __getdelim(line: Ptr, size: Ptr, end: c_int, stream: Ptr) -> isize: [stream gets stream] [];

        raise(number: c_int) -> c_int: [signal number] [];
        kill(process: c_int, number: c_int) -> c_int: [signal number] [];
        killpg(group: c_int, number: c_int) -> c_int: [signal number] [];
        tgkill(process: c_int, thread: c_int, number: c_int) -> c_int: [signal number] [];
        pthread_kill(thread: usize, number: c_int) -> c_int: [signal number] [];
        sigqueue(process: c_int, number: c_int, value: Ptr) -> c_int: [signal number] [];
        pthread_sigqueue(thread: usize, number: c_int, value: Ptr) -> c_int: [signal number] [];
        alarm(span: c_uint) -> c_uint: [signal libc::SIGALRM] [];
        ualarm(span: c_uint, every: c_uint) -> c_uint: [signal libc::SIGALRM] [];
        setitimer(timer: c_int, new: Ptr, old: Ptr) -> c_int: [thread sets_timer timer] [];
        sigwait(set: Ptr, number: *mut c_int) -> c_int: [thread waits_for_signal number] [];
        sigwaitinfo(set: Ptr, about: Ptr) -> c_int: [take] [];
        sigtimedwait(set: Ptr, about: Ptr, span: Time) -> c_int: [take] [];
    } };
}

/// Whether a mutex is robust. A try leaves a robust mutex that is given up locked (glibc 2.36), so
/// that who tries first would then wait for itself.
///
/// # Safety
/// It is a mutex. Its layout is part of the C library's ABI, because the initialisers of static
/// mutexes are.
#[inline(always)]
pub unsafe fn is_robust(mutex: Ptr) -> bool {
    const KIND: usize = 4;
    const ROBUST: u32 = 16;
    // SAFETY: the caller vouches for the mutex. Its kind never changes.
    unsafe { mutex.cast::<u32>().add(KIND).read() & ROBUST != 0 }
}

/// The outcome of a call that takes an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// The thread has the object.
    Taken,
    /// Another thread has the object.
    Busy,
    /// Another thread had the object until the time was over.
    Late,
    /// The call failed.
    Failed,
}

/// Functions that take an object report the outcome alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Functions of pthreads, whose result is an error number.
    Posix,
    /// Functions of threads.h.
    C11,
    /// Functions of semaphores, which fail with -1 and errno.
    Semaphore,
}

impl Family {
    /// The outcome of a call with this result.
    #[inline(always)]
    #[must_use]
    pub fn answer(self, result: c_int) -> Answer {
        /// `thrd_busy` and `thrd_timedout`.
        const BUSY: c_int = 1;
        const TIMED_OUT: c_int = 4;
        let (busy, late, error) = match self {
            Family::Posix => (libc::EBUSY, libc::ETIMEDOUT, result),
            Family::C11 => (BUSY, TIMED_OUT, result),
            Family::Semaphore if result != 0 => (libc::EAGAIN, libc::ETIMEDOUT, Errno::get()),
            Family::Semaphore => return Answer::Taken,
        };
        match error {
            0 if self != Family::Semaphore => Answer::Taken,
            // The thread has the lock even if the previous owner died.
            libc::EOWNERDEAD if self == Family::Posix => Answer::Taken,
            error if error == busy => Answer::Busy,
            error if error == late => Answer::Late,
            _ => Answer::Failed,
        }
    }

    /// Makes a call that the program did not ask for. The result is the program's, unless the
    /// object is busy: then the program must see nothing of the call, because it waits.
    #[inline(always)]
    pub fn try_first(self, call: impl FnOnce() -> c_int) -> Option<c_int> {
        let mut errno = 0;
        if self == Family::Semaphore {
            // These functions are places where a thread is cancelled, whether they wait or not.
            // SAFETY: the call has no arguments. It may unwind, as the function that the program
            // called may.
            unsafe { pthread_testcancel() };
            errno = Errno::get();
        }
        let result = call();
        if self.answer(result) != Answer::Busy {
            return Some(result);
        }
        if self == Family::Semaphore {
            Errno::set(errno);
        }
        None
    }
}

unsafe extern "C-unwind" {
    fn pthread_testcancel();
}
