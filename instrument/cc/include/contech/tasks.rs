//! Marks for libraries that run tasks: which code is the library's own, and where tasks are
//! generated, begin, end and are waited for. In a program that is recorded each task is then a
//! context, and the library's own code is none. Put this file beside yours and say `mod tasks;`. In
//! programs that `cargo contech` does not build the marks are nothing. `cargo contech` adds this
//! module to rayon-core.
//!
//! The stack frames that enter a library and that run a task tell the recorder which memory is a
//! task's.
#![allow(
    dead_code,
    missing_docs,
    unexpected_cfgs,
    unreachable_pub,
    clippy::all,
    clippy::pedantic
)]

/// What the recorder keeps between a call and its counterpart.
#[repr(C)]
struct Kept([u64; 2]);

/// What the recorder keeps of a task that threads run in turns.
#[repr(C)]
#[derive(Debug)]
struct State([u64; 5]);

macro_rules! marks {
    ($($name:ident = $symbol:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        #[cfg(contech)]
        unsafe extern "C" {
            $(fn $symbol($($argument: $type),*) $(-> $result)?;)*
        }
        $(
            #[inline(always)]
            fn $name($($argument: $type),*) $(-> $result)? {
                #[cfg(contech)]
                // SAFETY: the recorder's function has these types, and pointers are to what
                // outlives the call.
                return unsafe { $symbol($($argument),*) };
                #[cfg(not(contech))]
                {
                    $(let _ = $argument;)*
                    $(<$result>::default())?
                }
            }
        )*
    };
}

marks! {
    enter = __contech_library_enter(kept: *mut Kept);
    leave = __contech_library_leave(kept: *const Kept, task: u64);
    create = __contech_task_create() -> u64;
    create_detached = __contech_task_create_detached() -> u64;
    begin = __contech_task_begin(task: u64, kept: *mut Kept);
    end = __contech_task_end(kept: *const Kept);
    begin_group = __contech_task_group();
    create_turns = __contech_turns_create(turns: *mut State);
    own_turns = __contech_turns_own(turns: *mut State);
    begin_turn = __contech_turns_begin(turns: *const State, serial: usize, here: usize);
    end_turn = __contech_turns_end(turns: *const State, ends: bool, serial: usize, here: usize);
    order = __contech_task_order(serial: usize);
    wake_turns = __contech_turns_wake(turns: *const State, yielded: bool);
}

/// The library's own code runs until this is dropped.
pub struct Library {
    kept: Kept,
    ends: u64,
}

impl Library {
    /// Enters the library.
    #[inline(always)]
    pub fn enter() -> Self {
        Self::ending(0)
    }

    /// Enters the library to wait for a task, which has ended when this is dropped.
    #[inline(always)]
    pub fn join(task: Task) -> Self {
        Self::ending(task.0)
    }

    #[inline(always)]
    fn ending(ends: u64) -> Self {
        let mut kept = Kept([0; 2]);
        enter(&mut kept);
        Library { kept, ends }
    }
}

impl Drop for Library {
    #[inline(always)]
    fn drop(&mut self) {
        leave(&self.kept, self.ends)
    }
}

/// The tasks that are generated from here on, by this task and those that it generates, are a
/// group.
pub struct Group(());

impl Group {
    /// Begins a group.
    #[inline(always)]
    pub fn begin() -> Self {
        begin_group();
        Group(())
    }

    /// Enters the library to wait for the group, whose tasks have all ended when the result is
    /// dropped.
    #[inline(always)]
    pub fn join(self) -> Library {
        Library::ending(u64::MAX)
    }
}

/// A task.
#[derive(Clone, Copy)]
pub struct Task(u64);

impl Task {
    /// The calling task generates another, which is waited for.
    #[inline(always)]
    pub fn create() -> Self {
        Task(create())
    }

    /// The calling task generates another, which nothing waits for.
    #[inline(always)]
    pub fn detached() -> Self {
        Task(create_detached())
    }

    /// A task of which nobody knows where it was generated.
    #[inline(always)]
    pub fn unknown() -> Self {
        Task(0)
    }

    /// Runs the task.
    #[inline(always)]
    pub fn run<R>(self, f: impl FnOnce() -> R) -> R {
        self.run_with(|()| f(), ())
    }

    /// Runs the task with an argument, in a stack frame of its own. That is the same code wherever
    /// the task runs.
    #[inline(never)]
    pub fn run_with<A, R>(self, f: impl FnOnce(A) -> R, argument: A) -> R {
        struct Running(Kept);
        impl Drop for Running {
            #[inline(always)]
            fn drop(&mut self) {
                end(&self.0);
            }
        }
        #[inline(never)]
        fn apart<A, R>(f: impl FnOnce(A) -> R, argument: A) -> R {
            f(argument)
        }
        let mut running = Running(Kept([0; 2]));
        begin(self.0, &mut running.0);
        apart(f, argument)
    }
}

/// A task that threads run in turns, one at a time (a future that is polled).
#[derive(Debug)]
pub struct Turns(core::cell::UnsafeCell<State>);

// SAFETY: whoever uses more than the wake has the turn.
unsafe impl Sync for Turns {}

/// Between two turns: the next one begins when this is dropped.
pub struct Away<'a>(&'a Turns);

impl Drop for Away<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: this is made by whoever has the turn.
        unsafe { self.0.begin() };
    }
}

impl Turns {
    /// The calling task generates another, which nothing waits for. In a library this generates
    /// none.
    #[inline(always)]
    pub fn generate() -> Self {
        let mut state = State([0; 5]);
        create_turns(&mut state);
        Turns(core::cell::UnsafeCell::new(state))
    }

    /// The calling context is in the library between its turns.
    #[inline(always)]
    pub fn own() -> Self {
        let mut state = State([0; 5]);
        own_turns(&mut state);
        Turns(core::cell::UnsafeCell::new(state))
    }

    /// The calling task wakes this one, which has its next turn then.
    #[inline(always)]
    pub fn wake(&self) {
        wake_turns(self.0.get(), YIELDS.get());
    }

    /// The calling thread's turn begins.
    ///
    /// # Safety
    /// No other thread has the turn.
    #[inline(always)]
    pub unsafe fn begin(&self) {
        let here = 0u8;
        begin_turn(self.0.get(), SERIAL.get(), &raw const here as usize);
    }

    /// The calling thread's turn ends.
    ///
    /// # Safety
    /// The calling thread has the turn.
    #[inline(always)]
    pub unsafe fn pause(&self) {
        let here = 0u8;
        end_turn(self.0.get(), false, SERIAL.get(), &raw const here as usize);
    }

    /// The calling thread's turn ends until the result is dropped.
    ///
    /// # Safety
    /// The calling thread has the turn.
    #[inline(always)]
    pub unsafe fn away(&self) -> Away<'_> {
        unsafe { self.pause() };
        Away(self)
    }

    /// Takes what the last turn needs to end, if what this lies in may be gone by then.
    ///
    /// # Safety
    /// The calling thread has the turn, if any thread has.
    #[inline(always)]
    pub unsafe fn last(&self) -> Turns {
        Turns(core::cell::UnsafeCell::new(unsafe { self.0.get().read() }))
    }

    /// The calling thread's turn ends, and so does the task.
    #[inline(always)]
    pub fn end(self) {
        let here = 0u8;
        end_turn(self.0.get(), true, SERIAL.get(), &raw const here as usize);
    }
}

std::thread_local! {
    static YIELDS: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
    static SERIAL: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// The turns that begin until this is dropped come one after the other, as they share what only one
/// thread may use.
pub struct Serial(usize, usize);

impl Serial {
    /// The address says with what other turns.
    #[inline(always)]
    pub fn new(address: usize) -> Self {
        order(address);
        Serial(address, SERIAL.replace(address))
    }
}

impl Drop for Serial {
    #[inline(always)]
    fn drop(&mut self) {
        SERIAL.set(self.1);
        order(self.0);
    }
}

/// Wakes a task that has only let others run.
#[inline(always)]
pub fn yielded(wake: impl FnOnce()) {
    YIELDS.set(true);
    wake();
    YIELDS.set(false);
}

/// Runs code of a task in a stack frame of its own.
#[inline(never)]
pub fn apart<R>(f: impl FnOnce() -> R) -> R {
    f()
}
