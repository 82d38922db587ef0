//! The small numbers of events: why a context ended, how a thread comes to a context, and whether
//! accesses are recorded.

use contech_program::numbered;

numbered! {
    /// Why a context ended.
    pub enum EndReason {
        /// The thread's function returned, pthread_exit or cancellation.
        Finished = 0;
        /// The process ended while the context still ran (exit, quick_exit, or another thread
        /// returned from main).
        ProcessExit = 1;
        /// A fatal signal ended the process.
        Signal = 2;
        /// exec replaced the program.
        Exec = 3;
        /// The process ended while the context still ran, which had left the scope that others wait
        /// for.
        Left = 4;
    }
}

numbered! {
    /// How a thread comes to a context.
    pub enum Arrival {
        /// The thread goes on with the context.
        Resumes = 0;
        /// The context begins here.
        Begins = 1;
        /// The thread was in the context all the time; only a new buffer begins.
        Stays = 2;
        /// The thread goes on with the context inside of a wait, whose event will follow.
        Waits = 3;
    }
}

numbered! {
    /// Whether a stream has blocks and their accesses, or why it has none.
    pub enum Recorded {
        /// They are recorded.
        Yes = 0;
        /// The trace has reached its limit.
        Limit = 1;
        /// The program is outside of the region of interest.
        Outside = 2;
        /// The moment is between two windows of a sample.
        Between = 3;
    }
}
