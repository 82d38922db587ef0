//! What the core asks of the library around it.

use crate::Recorder;

/// Services only the shared library can give: its functions bypass its own interception.
pub trait Host: Sync {
    /// Starts a thread that runs [`Recorder::write_until_closed`] with all signals blocked; `false`
    /// when none can be had.
    fn start_writer(&self, recorder: &'static Recorder) -> bool;

    /// Waits for the end of that thread.
    fn join_writer(&self);

    /// A thread got its state by itself: see to it that [`Recorder::end_thread`] is called at its end.
    fn watch_thread_end(&self);

    /// What else the reader of the trace should know, asked for when it ends.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}
