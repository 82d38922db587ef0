//! How memory was obtained, why a context ended, how a thread comes to one: small numbers of events.

/// How memory was obtained. Numbers are part of the format.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AllocKind {
    /// malloc and kin
    Malloc = 0,
    /// calloc
    Calloc = 1,
    /// realloc (a Free of the old address comes before when it moved or was freed)
    Realloc = 2,
    /// posix_memalign, aligned_alloc, memalign ...
    Aligned = 3,
    /// operator new
    New = 4,
}

impl AllocKind {
    /// The kind with this number.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Self> {
        use AllocKind::{Aligned, Calloc, Malloc, New, Realloc};
        [Malloc, Calloc, Realloc, Aligned, New]
            .get(usize::from(n))
            .copied()
    }
}

/// Why a context ended. Numbers are part of the format.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EndReason {
    /// The thread's function returned, pthread_exit or cancellation.
    Finished = 0,
    /// The process ended while the context still ran (exit, quick_exit, return from main of another).
    ProcessExit = 1,
    /// A fatal signal ended the process.
    Signal = 2,
    /// exec replaced the program.
    Exec = 3,
}

impl EndReason {
    /// The reason with this number.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Self> {
        use EndReason::{Exec, Finished, ProcessExit, Signal};
        [Finished, ProcessExit, Signal, Exec]
            .get(usize::from(n))
            .copied()
    }
}

/// How a thread comes to a context. Numbers are part of the format.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// Goes on with it.
    Resumes = 0,
    /// The context begins here.
    Begins = 1,
    /// It was there all the time: a new buffer begins.
    Stays = 2,
    /// Goes on with it inside of a wait, whose event will follow.
    Waits = 3,
}

impl Arrival {
    /// The arrival with this number.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Self> {
        use Arrival::{Begins, Resumes, Stays, Waits};
        [Resumes, Begins, Stays, Waits].get(usize::from(n)).copied()
    }
}
