//! Runtime events in a context's stream: fixed-size postfix records whose last four bytes are a
//! reserved id. Encoding allocates nothing, so the runtime can do it anywhere.

mod code;
mod kinds;
#[cfg(test)]
mod tests;

pub use code::{MAX_EVENT, TIME, field_bytes};
pub use contech_program::SyncOp;
pub use kinds::{AllocKind, Arrival, EndReason};

/// Streams of threads without a context of their own are numbered from here.
pub const TEAM_STREAMS: u32 = 1 << 31;

/// A runtime event. All times are ticks of the processor's clock since the trace's start (48 bits); objects, addresses,
/// tickets and sizes are 48 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A synchronisation: times around the operation, ticket in its object's order.
    Sync {
        /// What was done.
        op: SyncOp,
        /// Address of the object, or a context or process id.
        object: u64,
        /// Position in the object's order; tickets of one object are distinct and ascend.
        ticket: u64,
        /// Extra number, see [`SyncOp`].
        aux: u64,
        /// Ticks before the operation.
        before: u64,
        /// Ticks the operation took.
        duration: u64,
    },
    /// Memory obtained.
    Alloc {
        /// How.
        kind: AllocKind,
        /// First byte.
        addr: u64,
        /// Bytes asked for.
        size: u64,
    },
    /// Memory given back.
    Free {
        /// Its first byte.
        addr: u64,
    },
    /// mmap.
    Map {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// Memory that begins a new life without being allocated: the stack below an OpenMP task that begins, and what
    /// libomp keeps of a task (its firstprivate variables).
    Fresh {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// munmap.
    Unmap {
        /// First byte.
        addr: u64,
        /// Bytes.
        size: u64,
    },
    /// First event of a context.
    ContextStart {
        /// The context itself.
        context: u32,
        /// The context that created it (itself for the first).
        creator: u32,
        /// False for a thread nobody announced (no creation was seen).
        announced: bool,
        /// Kernel thread id.
        tid: u32,
        /// Ticks.
        at: u64,
    },
    /// Last event of a context.
    ContextEnd {
        /// Why.
        reason: EndReason,
        /// Ticks.
        at: u64,
    },
    /// The runtime paused the program because its queue had reached the memory limit.
    Delay {
        /// Ticks at the start of the pause.
        before: u64,
        /// Ticks paused.
        duration: u64,
    },
    /// Records of this context were lost here (left a signal handler by longjmp ...).
    Lost {
        /// Bytes lost, 0 where unknown.
        bytes: u64,
    },
    /// The region of interest begins or ends here.
    Roi {
        /// True where it begins.
        begin: bool,
        /// Ticks.
        at: u64,
    },
    /// The time between two records: what is before took until then.
    Time {
        /// Ticks.
        before: u64,
        /// Ticks that noting it took.
        taken: u64,
    },
    /// What follows in this stream belongs to another context, until the next such event or the end of the
    /// chunk.
    Switch {
        /// The context.
        context: u32,
        /// Pieces of a context that may go on in another thread's stream are numbered from 1; else 0.
        piece: u32,
        /// Whether it begins here.
        how: Arrival,
        /// Ticks.
        at: u64,
    },
}
