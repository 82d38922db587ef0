//! What the core asks of the library around it.

/// Services that only the shared library can give, because its functions bypass its own
/// interception.
pub trait Host: Sync {
    /// Starts a thread that runs `write` with all signals blocked. Returns `false` if no thread can
    /// be started.
    fn start_writer(&self, write: Box<dyn FnOnce() + Send>) -> bool;

    /// Whether the program has an allocator of its own, whose lock it may hold where it flushes.
    fn has_own_allocator(&self) -> bool {
        false
    }

    /// Waits for the end of the writer's thread.
    fn join_writer(&self);

    /// Makes sure that `Recorder::end_thread` is called at the end of the calling thread, which got
    /// its state by itself.
    fn watch_thread_end(&self);

    /// What else the reader of the trace should know. The recorder asks for it when the trace ends.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }
}
