//! Marks for libraries that run tasks: which code is the library's own, and where tasks are generated, begin, end and
//! are waited for. In a program that is recorded each task is then a context, and the library's own code is none. Put
//! this file beside yours and say `mod tasks;`. In programs that `cargo contech` does not build the marks are nothing.
//! `cargo contech` adds this module to rayon-core.
//!
//! The stack frames that enter a library and that run a task tell the recorder which memory is a task's.
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
                // SAFETY: the recorder's function has these types, and pointers are to what outlives the call.
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

/// The tasks that are generated from here on, by this task and those that it generates, are a group.
pub struct Group(());

impl Group {
    /// Begins a group.
    #[inline(always)]
    pub fn begin() -> Self {
        begin_group();
        Group(())
    }

    /// Enters the library to wait for the group, whose tasks have all ended when the result is dropped.
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

    /// Runs the task with an argument, in a stack frame of its own. That is the same code wherever the task runs.
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
