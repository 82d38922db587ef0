//! Runtime events in a context's stream are fixed-size postfix records whose last four bytes are a
//! reserved id. To encode one takes no allocation, so the runtime can do it anywhere.

mod kinds;
mod layout;

pub use contech_program::{AllocKind, SyncOp};
pub use kinds::{Arrival, EndReason, Recorded};

use std::mem::offset_of;

use crate::abi::ID_BYTES;
use crate::{Error, Result};
use layout::{Field, events};

/// Streams of threads that have no context of their own are numbered from here.
pub const TEAM_STREAMS: u32 = 1 << 31;

/// What a thread records after a switch to this context belongs to none: the thread runs code of a
/// library whose tasks are recorded and whose own code is not.
pub const NOWHERE: u32 = u32::MAX - 1;

/// The number of the piece of a context that comes after this one. Pieces count from 1, and from 1
/// again after the last number that fits; 0 stands before the first.
#[must_use]
pub const fn piece_after(piece: u32) -> u32 {
    piece % ((1 << 20) - 1) + 1
}

events! {
    /// A runtime event. All times are ticks of the processor's clock since the trace's start (48
    /// bits). Objects, addresses, tickets and sizes have 48 bits.
    pub enum Event {
        /// A synchronisation, with the times around the operation and the ticket in its object's
        /// order. It ends with the same bytes as one whose time is open.
        Sync = 1, 36 bytes {
            /// Ticks before the operation.
            before: u64,
            /// Ticks the operation took.
            duration: u64,
            /// Address of the object, or a context or process id.
            object: u64,
            /// Position in the object's order; tickets of one object are distinct and ascend.
            ticket: u64,
            /// Extra number; see [`SyncOp`].
            aux: u64,
            /// What was done.
            op: SyncOp,
        }
        /// Memory was obtained.
        Alloc = 2, 17 bytes {
            /// First byte of the memory.
            addr: u64,
            /// Number of bytes asked for.
            size: u64,
            /// How the memory was obtained.
            kind: AllocKind,
        }
        /// Memory was given back.
        Free = 3, 10 bytes {
            /// First byte of the memory.
            addr: u64,
        }
        /// Memory was mapped (mmap).
        Map = 4, 16 bytes {
            /// First byte of the range.
            addr: u64,
            /// Number of bytes.
            size: u64,
        }
        /// Memory was unmapped (munmap).
        Unmap = 5, 16 bytes {
            /// First byte of the range.
            addr: u64,
            /// Number of bytes.
            size: u64,
        }
        /// First event of a context.
        ContextStart = 6, 23 bytes {
            /// The context itself.
            context: u32,
            /// The context that created it (itself for the first).
            creator: u32,
            /// Kernel thread id.
            tid: u32,
            /// False for a thread whose creation was not seen.
            announced: bool,
            /// Ticks at the start.
            at: u64,
        }
        /// Last event of a context.
        ContextEnd = 7, 11 bytes {
            /// Ticks at the end.
            at: u64,
            /// Why the context ended.
            reason: EndReason,
        }
        /// The runtime paused the program because its queue had reached the memory limit.
        Delay = 8, 16 bytes {
            /// Ticks at the start of the pause.
            before: u64,
            /// Ticks that the pause took.
            duration: u64,
        }
        /// Records of this context were lost here (for example, a longjmp left a signal handler).
        Lost = 9, 10 bytes {
            /// Number of bytes lost, or 0 if it is not known.
            bytes: u64,
        }
        /// The region of interest begins or ends here.
        Roi = 10, 11 bytes {
            /// Ticks at this event.
            at: u64,
            /// True if the region begins.
            begin: bool,
        }
        /// Memory begins a new life although it was not allocated: the stack of a thread that
        /// begins, with its thread-local variables, the stack below an OpenMP task that begins, or
        /// what libomp keeps of a task (its firstprivate variables).
        Fresh = 11, 16 bytes {
            /// First byte of the range.
            addr: u64,
            /// Number of bytes.
            size: u64,
        }
        /// What the last records of this chunk say happened again, so many times. Only the decoder
        /// sees this event.
        Again = 13, 14 bytes {
            /// Bytes of the records before this event that are meant.
            bytes: u32,
            /// How often they happened again.
            count: u64,
        }
        /// From here on the stream has accesses and blocks, or has none, until the next such event.
        Accesses = 14, 11 bytes {
            /// Ticks at this event.
            at: u64,
            /// Whether they are recorded, or why they are not.
            recorded: Recorded,
        }
        /// Other programs had the processor for a part of the time since the last event, which is
        /// no time of the context's work.
        Stolen = 15, 10 bytes {
            /// Ticks.
            taken: u64,
        }
        /// How far the thread has come, and what the kernel says of it since its start. It stands
        /// between whole records.
        Position = 18, 32 bytes {
            /// Ticks at this event.
            at: u64,
            /// Time that the thread ran, in microseconds; that in the kernel is a part of it.
            ran: u64,
            /// Time that the thread ran in the kernel, in microseconds.
            system: u64,
            /// Pages that the kernel had to give it.
            faults: u32,
            /// How many of them are the recording's own.
            own: u32,
            /// The number of the processor that the thread is on.
            processor: u16,
        }
        /// A synchronisation that did not wait, and whose time was not read because it came soon
        /// after others. It lies between the last time of the context and the next one.
        Untimed = 17, 24 bytes {
            /// As in [`Event::Sync`].
            object: u64,
            /// As in [`Event::Sync`].
            ticket: u64,
            /// As in [`Event::Sync`].
            aux: u64,
            /// As in [`Event::Sync`].
            op: SyncOp,
        }
        /// What follows in this stream belongs to another context, until the next such event or the
        /// end of the chunk.
        Switch = 16, 19 bytes {
            /// The context.
            context: u32,
            /// Number of the piece, from 1, if pieces of the context may go on in another thread's
            /// stream; 0 for other contexts.
            piece: u32,
            /// Ticks at the switch.
            at: u64,
            /// How the thread comes to the context.
            how: Arrival,
        }
    }
}

/// A bit of an atomic operation's aux: the word was 0, and the operation made it something else.
pub const AUX_TAKES: u64 = 1 << 3;
/// A bit of an atomic operation's aux: the operation made the word 0.
pub const AUX_GIVES: u64 = 1 << 4;

/// Bytes at the end of a sync event that are the same whether it has times or not.
pub const SYNC_TAIL: usize = size_of::<raw::Untimed>();
const _: () = {
    let longer = size_of::<raw::Sync>() - SYNC_TAIL;
    assert!(offset_of!(raw::Sync, ticket) == longer + offset_of!(raw::Untimed, ticket));
    assert!(offset_of!(raw::Sync, aux) == longer + offset_of!(raw::Untimed, aux));
    assert!(offset_of!(raw::Sync, op) == longer + offset_of!(raw::Untimed, op));
};
