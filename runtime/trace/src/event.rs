//! Runtime events in a context's stream are fixed-size postfix records whose last four bytes are a reserved id. To
//! encode one takes no allocation, so the runtime can do it anywhere.

mod code;
mod kinds;
#[cfg(test)]
mod tests;

pub use code::{MAX_EVENT, TIME, field_bytes};
pub use contech_program::SyncOp;
pub use kinds::{AllocKind, Arrival, EndReason};

/// Streams of threads that have no context of their own are numbered from here.
pub const TEAM_STREAMS: u32 = 1 << 31;

/// A runtime event. All times are ticks of the processor's clock since the trace's start (48 bits). Objects,
/// addresses, tickets and sizes have 48 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A synchronisation, with the times around the operation and the ticket in its object's order.
    Sync {
        /// What was done.
        op: SyncOp,
        /// Address of the object, or a context or process id.
        object: u64,
        /// Position in the object's order; tickets of one object are distinct and ascend.
        ticket: u64,
        /// Extra number; see [`SyncOp`].
        aux: u64,
        /// Ticks before the operation.
        before: u64,
        /// Ticks the operation took.
        duration: u64,
    },
    /// Memory was obtained.
    Alloc {
        /// How the memory was obtained.
        kind: AllocKind,
        /// First byte of the memory.
        addr: u64,
        /// Number of bytes asked for.
        size: u64,
    },
    /// Memory was given back.
    Free {
        /// First byte of the memory.
        addr: u64,
    },
    /// Memory was mapped (mmap).
    Map {
        /// First byte of the range.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// Memory begins a new life although it was not allocated: the stack below an OpenMP task that begins, or what
    /// libomp keeps of a task (its firstprivate variables).
    Fresh {
        /// First byte of the range.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// Memory was unmapped (munmap).
    Unmap {
        /// First byte of the range.
        addr: u64,
        /// Number of bytes.
        size: u64,
    },
    /// First event of a context.
    ContextStart {
        /// The context itself.
        context: u32,
        /// The context that created it (itself for the first).
        creator: u32,
        /// False for a thread whose creation was not seen.
        announced: bool,
        /// Kernel thread id.
        tid: u32,
        /// Ticks at the start.
        at: u64,
    },
    /// Last event of a context.
    ContextEnd {
        /// Why the context ended.
        reason: EndReason,
        /// Ticks at the end.
        at: u64,
    },
    /// The runtime paused the program because its queue had reached the memory limit.
    Delay {
        /// Ticks at the start of the pause.
        before: u64,
        /// Ticks that the pause took.
        duration: u64,
    },
    /// Records of this context were lost here (for example, a longjmp left a signal handler).
    Lost {
        /// Number of bytes lost, or 0 if it is not known.
        bytes: u64,
    },
    /// The region of interest begins or ends here.
    Roi {
        /// True if the region begins.
        begin: bool,
        /// Ticks at this event.
        at: u64,
    },
    /// The time between two records: the records before took until then.
    Time {
        /// Ticks at this event.
        before: u64,
        /// Ticks that it took to note the time.
        taken: u64,
    },
    /// What follows in this stream belongs to another context, until the next such event or the end of the
    /// chunk.
    Switch {
        /// The context.
        context: u32,
        /// Number of the piece, from 1, if pieces of the context may go on in another thread's stream; 0 for other
        /// contexts.
        piece: u32,
        /// How the thread comes to the context.
        how: Arrival,
        /// Ticks at the switch.
        at: u64,
    },
}
