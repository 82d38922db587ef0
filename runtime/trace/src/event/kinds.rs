//! How memory was obtained, why a context ended, how a thread comes to one: small numbers of events.

use crate::numbered::numbered;

numbered! {
    /// How memory was obtained. Numbers are part of the format.
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
}

numbered! {
    /// Why a context ended. Numbers are part of the format.
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
}

numbered! {
    /// How a thread comes to a context. Numbers are part of the format.
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
}
