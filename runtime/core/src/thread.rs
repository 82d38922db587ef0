//! The state of one thread that takes part in recording.

use std::sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed, Ordering::Release,
};

use contech_interpose::meter::Meter;

use crate::buffer::Buffer;
use crate::inner::Inner;
use crate::mask::Blocked;
use crate::primitive::{Mutex, MutexGuard};
use crate::sync::lock;
use crate::tls::TlsBlock;

/// Context of a thread that has none yet.
pub const NO_CONTEXT: u32 = u32::MAX;

/// The state of a thread. It is in the registry's memory, and after the thread's end it is used
/// again for another one.
#[repr(align(128))]
#[derive(Default)]
#[allow(missing_debug_implementations, reason = "its state is of no use in text")]
pub struct Thread {
    /// Number of sync events recorded and, in `begun`, of contexts begun in the thread. Only the
    /// owner writes them, after the events.
    pub(crate) syncs: AtomicU64,
    pub(crate) begun: AtomicU64,
    /// Pages that the kernel gave the thread for its records. Only the owner writes it.
    pub(crate) own_pages: AtomicU64,
    /// How many of these are in the trace's totals. Changed under the lock.
    pub(crate) told: (AtomicU64, AtomicU64),
    /// The owner's thread-local block.
    pub(crate) tls: AtomicPtr<TlsBlock>,
    pub(crate) context: AtomicU32,
    /// The context that the thread runs, if that is not its own, otherwise [`NO_CONTEXT`]. Only the
    /// owner writes it.
    pub(crate) entered: AtomicU32,
    /// While `entered` is [`NOWHERE`](contech_trace::event::NOWHERE): what it was before.
    pub(crate) outside: AtomicU32,
    /// Where the thread's records went on when it entered a library; null if they have left the
    /// buffer since.
    pub(crate) mark: AtomicPtr<u8>,
    /// The same of the second stream.
    pub(crate) check_mark: AtomicPtr<u8>,
    /// What was recorded before `mark` belongs to the context that the thread comes back to.
    pub(crate) direct: AtomicBool,
    /// An address in the first stack frame of a thread that a library made; 0 for other threads.
    pub(crate) base: AtomicUsize,
    /// An address in the stack frame from which the thread entered a library.
    pub(crate) top: AtomicUsize,
    /// Ticks when the thread began to wait in a library ([`crate::Recorder::begin_wait`]).
    pub(crate) waits: AtomicU64,
    /// The thread has left the scope that others wait for.
    pub(crate) left: AtomicBool,
    /// Number of the piece of the entered context.
    pub(crate) piece: AtomicU32,
    pub(crate) creator: AtomicU32,
    pub(crate) announced: AtomicBool,
    /// The thread is counted among the program's live threads.
    pub(crate) counted: AtomicBool,
    /// The function that the creator wants run, and its argument. The new thread reads them once.
    pub(crate) start: (AtomicUsize, AtomicUsize),
    /// Bytes of the new thread's stack; 0 if the program brought it.
    pub stack: AtomicUsize,
    /// Signals the new thread is to block once it has its state. Until then it blocks all.
    pub mask: AtomicU64,
    /// The library that made the thread: one more than its place in the list of libraries that made
    /// threads; 0 if none did.
    pub(crate) library: AtomicUsize,
    /// The program lets the thread be cancelled anywhere, and it is not leaving by itself.
    pub(crate) unsafe_end: AtomicBool,
    /// Measures what other programs take of the processor, for times within tasks.
    pub(crate) meter: Meter,
    /// The upper end of the thread's own stack, mapped when a handler first runs on an alternate
    /// stack; 0 before.
    pub(crate) own_stack: AtomicUsize,
    /// The owner holds the lock in its slow path, and so does the thread that finishes the trace.
    pub(crate) inner: Mutex<Inner>,
}

impl TlsBlock {
    /// State of the thread; null before its first flush.
    #[inline]
    pub fn thread(&self) -> *mut Thread {
        self.state.load(Relaxed).cast()
    }

    pub(crate) fn set_thread(&self, thread: &Thread) {
        let state = std::ptr::from_ref(thread).cast_mut();
        self.state.store(state.cast(), Relaxed);
    }
}

impl Thread {
    pub(crate) fn new() -> Self {
        Thread {
            context: AtomicU32::new(NO_CONTEXT),
            entered: AtomicU32::new(NO_CONTEXT),
            outside: AtomicU32::new(NO_CONTEXT),
            creator: AtomicU32::new(NO_CONTEXT),
            ..Thread::default()
        }
    }

    /// The thread's context, [`NO_CONTEXT`] before it has one.
    pub fn context(&self) -> u32 {
        self.context.load(Relaxed)
    }

    /// The function that the creator wants the thread to run, and its argument.
    pub fn start(&self) -> (usize, usize) {
        (self.start.0.load(Relaxed), self.start.1.load(Relaxed))
    }

    /// Sets whether a library makes the thread whose own code is not recorded ([`crate::library`]).
    pub fn set_inside(&self, inside: bool) {
        self.base.store(usize::from(inside), Relaxed);
    }

    /// What [`Thread::set_inside`] was given.
    pub fn is_inside(&self) -> bool {
        self.base.load(Relaxed) != 0
    }

    /// Counts a sync event; only the owner calls this, so no atomic increment is needed.
    #[inline]
    pub fn count_sync(&self) {
        self.syncs.store(self.syncs.load(Relaxed) + 1, Release);
    }

    /// Counts a context that begins in the thread. Only the owner calls this.
    pub(crate) fn count_begun(&self) {
        self.begun.store(self.begun.load(Relaxed) + 1, Release);
    }

    /// Notes that the thread's records in a buffer reach to `cursor`. Only the owner calls this.
    pub(crate) fn uses(&self, buffer: &Buffer, cursor: *const u8) {
        let more = buffer.use_to(cursor) as u64;
        self.own_pages.store(self.own_pages.load(Relaxed) + more, Relaxed);
    }

    /// Number of sync events counted so far. Only the owner calls this.
    #[inline]
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Relaxed)
    }

    /// Clears the counts, because the state is about to be another thread's.
    pub(crate) fn forget_counts(&self) {
        let told = [&self.told.0, &self.told.1];
        for count in [&self.syncs, &self.begun, &self.own_pages].into_iter().chain(told) {
            count.store(0, Relaxed);
        }
    }

    /// Locks the thread's state. A handler locks it too, so no handler may interrupt the thread
    /// meanwhile.
    pub(crate) fn lock<'a>(&'a self, _blocked: &'a Blocked) -> MutexGuard<'a, Inner> {
        lock(&self.inner)
    }
}
