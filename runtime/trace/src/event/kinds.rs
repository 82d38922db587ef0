//! The small numbers of events: how memory was obtained, why a context ended, and how a thread comes to a context.

use crate::numbered::numbered;

numbered! {
    /// How memory was obtained. Numbers are part of the format.
    pub enum AllocKind {
        /// malloc and its kin
        Malloc = 0,
        /// calloc
        Calloc = 1,
        /// realloc (if the memory moved or was freed, a Free of the old address comes before)
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
        /// The process ended while the context still ran (exit, quick_exit, or another thread returned from main).
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
        /// The thread goes on with the context.
        Resumes = 0,
        /// The context begins here.
        Begins = 1,
        /// The thread was in the context all the time; only a new buffer begins.
        Stays = 2,
        /// The thread goes on with the context inside of a wait, whose event will follow.
        Waits = 3,
    }
}
