//! Runtime events in a context's stream: fixed-size postfix records whose last four bytes are a
//! reserved id. Encoding allocates nothing, so the runtime can do it anywhere.

use crate::abi::ID_BYTES;
use crate::{Error, Result};

/// What a synchronisation event did. Numbers are part of the format.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SyncOp {
    /// Thread created; object = context of the child.
    ThreadCreate = 1,
    /// Thread joined; object = context of the child.
    ThreadJoin = 2,
    /// Mutex acquired.
    MutexLock = 3,
    /// Mutex released.
    MutexUnlock = 4,
    /// Read lock acquired.
    RwRead = 5,
    /// Write lock acquired.
    RwWrite = 6,
    /// Read or write lock released (which: the middle knows who holds it).
    RwUnlock = 7,
    /// Spin lock acquired.
    SpinLock = 8,
    /// Spin lock released.
    SpinUnlock = 9,
    /// Mutex (object) released on entering a condition wait; aux = the condition's address.
    CondRelease = 10,
    /// Woken by the condition (object); aux = the condition's ticket when the wait began.
    CondWake = 11,
    /// The condition wait timed out or was cancelled: no edge; object and aux as for a wake.
    CondTimeout = 12,
    /// Mutex (object) reacquired at the end of a condition wait.
    CondReacquire = 13,
    /// Signal on the condition.
    CondSignal = 14,
    /// Broadcast on the condition.
    CondBroadcast = 15,
    /// Semaphore taken.
    SemWait = 16,
    /// Semaphore posted.
    SemPost = 17,
    /// This call ran the once-routine; ticket taken after it finished.
    OnceRun = 18,
    /// The once-routine had been run before this call returned.
    OncePass = 19,
    /// Arrived at a barrier: ticket taken before waiting, times around the wait; aux = participants.
    BarrierWait = 20,
    /// A try or timed acquire of the object failed: a task without edges.
    TryFail = 21,
    /// The object begins a new life (init): orders nothing, cuts its chain; aux = semaphore value or
    /// barrier participants.
    ObjectInit = 22,
    /// The object ends (destroy): cuts its chain.
    ObjectDestroy = 23,
    /// fork; object = process id of the child.
    Fork = 24,
    /// Atomic load. For this and the next three: aux = memory order (`abi::ATOMIC_ORDER`), from bit 8 on
    /// how often it was repeated without finding anything new.
    AtomicLoad = 40,
    /// Atomic store.
    AtomicStore = 41,
    /// Atomic read-modify-write, compare-exchange that succeeded included.
    AtomicRmw = 42,
    /// Compare-exchange that failed: a load.
    AtomicFail = 43,
    /// Fence; aux = memory order, no object.
    Fence = 44,
    /// Nothing: the first try of a spin-wait, which the event that ended it stands for.
    AtomicSpun = 45,
    /// Woken from a wait on a futex (object).
    FutexWait = 46,
    /// A wait on a futex ended otherwise: a task without edges.
    FutexTimeout = 47,
    /// Waiters of a futex woken; aux = how many.
    FutexWake = 48,
    /// OpenMP parallel (or teams) region: implicit tasks begin; object = the first one's context, aux = how
    /// many, their contexts follow each other.
    TeamCreate = 64,
    /// The region's end; object and aux as where it was created, times around the wait.
    TeamJoin = 65,
    /// OpenMP explicit task generated; object = its context.
    TaskCreate = 66,
    /// taskwait: waited for the tasks this context has generated.
    TaskWait = 67,
    /// An undeferred task has ended; object = its context.
    TaskJoin = 68,
    /// A taskgroup begins here: orders nothing.
    TaskgroupBegin = 69,
    /// Waited for the tasks generated since the innermost taskgroup began, and for all they generated.
    TaskgroupEnd = 70,
    /// A barrier waited for all tasks this context has generated, and for all they generated.
    TasksJoin = 71,
    /// Dependence of the task that runs (of a taskwait, where it stands) on an item (object); ticket in the
    /// order in which tasks were generated; aux = generating context, from bit 32 on the type as OMPT numbers
    /// them.
    Depend = 72,
    /// A detached task's event was fulfilled; object = the task's context.
    Fulfill = 73,
    /// OpenMP lock (nest lock, mutexinoutset item) acquired. The releases of this and of the next two have
    /// the ticket of their acquire.
    OmpLock = 74,
    /// The same released.
    OmpUnlock = 75,
    /// Critical section entered.
    CriticalEnter = 76,
    /// Critical section left.
    CriticalExit = 77,
    /// Ordered region entered.
    OrderedEnter = 78,
    /// Ordered region left.
    OrderedExit = 79,
    /// Inside of a barrier (object) partial results begin to be combined, or have been (aux = 1).
    Reduction = 80,
    /// Doacross: the iteration `object` (a hash of region and iteration vector) is done so far.
    DoacrossPost = 81,
    /// Doacross: waited for that iteration.
    DoacrossWait = 82,
    /// Mark: a worksharing construct begins; aux = what, as OMPT numbers work (100: masked, 101: cancellation
    /// was asked for).
    Work = 83,
    /// Mark: a worksharing construct ends.
    WorkEnd = 84,
    /// MPI: a message is sent; object = communicator (see [`crate::mpi`]), ticket = place in the order of the
    /// process's sends, aux = receiver and tag ([`crate::mpi::Peer`]).
    MpiSend = 100,
    /// MPI: a message was received; ticket = place in the order in which the process posted its receives,
    /// aux = sender and tag.
    MpiRecv = 101,
    /// MPI: waited for requests, none of them a receive.
    MpiWait = 102,
    /// MPI: a mark; aux = what ([`crate::mpi::Mark`]).
    MpiMark = 103,
    /// MPI: a blocking collective operation on the communicator (object); ticket = its number there,
    /// aux = [`crate::mpi::Meeting`].
    MpiMeet = 104,
    /// MPI: a non-blocking collective operation begins; object, ticket and aux as for a blocking one.
    MpiBegin = 105,
    /// MPI: the same has ended; times around the wait.
    MpiEnd = 106,
}

impl SyncOp {
    /// Operations on atomic variables, whose tickets are in an order of their own.
    #[must_use]
    pub fn is_atomic(self) -> bool {
        matches!(
            self,
            Self::AtomicLoad | Self::AtomicStore | Self::AtomicRmw | Self::AtomicFail
        )
    }

    const OPENMP: [SyncOp; 21] = [
        SyncOp::TeamCreate,
        SyncOp::TeamJoin,
        SyncOp::TaskCreate,
        SyncOp::TaskWait,
        SyncOp::TaskJoin,
        SyncOp::TaskgroupBegin,
        SyncOp::TaskgroupEnd,
        SyncOp::TasksJoin,
        SyncOp::Depend,
        SyncOp::Fulfill,
        SyncOp::OmpLock,
        SyncOp::OmpUnlock,
        SyncOp::CriticalEnter,
        SyncOp::CriticalExit,
        SyncOp::OrderedEnter,
        SyncOp::OrderedExit,
        SyncOp::Reduction,
        SyncOp::DoacrossPost,
        SyncOp::DoacrossWait,
        SyncOp::Work,
        SyncOp::WorkEnd,
    ];

    const MPI: [SyncOp; 7] = [
        SyncOp::MpiSend,
        SyncOp::MpiRecv,
        SyncOp::MpiWait,
        SyncOp::MpiMark,
        SyncOp::MpiMeet,
        SyncOp::MpiBegin,
        SyncOp::MpiEnd,
    ];

    /// Operations of MPI, whose objects are communicators.
    #[must_use]
    pub fn is_mpi(self) -> bool {
        Self::MPI.contains(&self)
    }

    fn mpi(n: u8) -> Option<Self> {
        let at = usize::from(n).checked_sub(Self::MpiSend as usize)?;
        Self::MPI.get(at).copied()
    }

    fn openmp(n: u8) -> Option<Self> {
        let at = usize::from(n).checked_sub(Self::TeamCreate as usize)?;
        Self::OPENMP.get(at).copied()
    }
}

impl SyncOp {
    /// The operation with this number.
    #[must_use]
    pub fn from_u8(n: u8) -> Option<Self> {
        use SyncOp::{
            AtomicFail, AtomicLoad, AtomicRmw, AtomicSpun, AtomicStore, BarrierWait, CondBroadcast,
            CondReacquire, CondRelease, CondSignal, CondTimeout, CondWake, Fence, Fork,
            FutexTimeout, FutexWait, FutexWake, MutexLock, MutexUnlock, ObjectDestroy, ObjectInit,
            OncePass, OnceRun, RwRead, RwUnlock, RwWrite, SemPost, SemWait, SpinLock, SpinUnlock,
            ThreadCreate, ThreadJoin, TryFail,
        };
        const FIRST_ATOMIC: u8 = 40;
        const ATOMIC: [SyncOp; 9] = [
            AtomicLoad,
            AtomicStore,
            AtomicRmw,
            AtomicFail,
            Fence,
            AtomicSpun,
            FutexWait,
            FutexTimeout,
            FutexWake,
        ];
        if n >= FIRST_ATOMIC {
            let atomic = ATOMIC.get(usize::from(n - FIRST_ATOMIC)).copied();
            return atomic.or_else(|| Self::openmp(n)).or_else(|| Self::mpi(n));
        }
        const ALL: [SyncOp; 24] = [
            ThreadCreate,
            ThreadJoin,
            MutexLock,
            MutexUnlock,
            RwRead,
            RwWrite,
            RwUnlock,
            SpinLock,
            SpinUnlock,
            CondRelease,
            CondWake,
            CondTimeout,
            CondReacquire,
            CondSignal,
            CondBroadcast,
            SemWait,
            SemPost,
            OnceRun,
            OncePass,
            BarrierWait,
            TryFail,
            ObjectInit,
            ObjectDestroy,
            Fork,
        ];
        ALL.get(usize::from(n).checked_sub(1)?).copied()
    }
}

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

/// A runtime event. All times are TSC ticks since the trace's start (48 bits); objects, addresses,
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

const SYNC: u32 = 1;
const ALLOC: u32 = 2;
const FREE: u32 = 3;
const MAP: u32 = 4;
const UNMAP: u32 = 5;
const FRESH: u32 = 11;
const START: u32 = 6;
const END: u32 = 7;
const DELAY: u32 = 8;
const LOST: u32 = 9;
const ROI: u32 = 10;
/// Id of [`Event::Time`], which the runtime also writes without [`Event::encode`].
pub const TIME: u32 = 12;
const SWITCH: u32 = 16;

/// Longest encoded event in bytes.
pub const MAX_EVENT: usize = 5 * 6 + 2 + ID_BYTES;

/// Bytes of the fields of the event with this id (the id itself excluded), `None` for no event.
#[must_use]
pub fn field_bytes(id: u32) -> Option<usize> {
    Some(match id {
        SYNC => 5 * 6 + 2,
        ALLOC => 2 * 6 + 1,
        FREE | LOST => 6,
        MAP | UNMAP | FRESH | DELAY | TIME => 2 * 6,
        START => 3 * 4 + 1 + 6,
        END | ROI => 6 + 1,
        SWITCH => 2 * 4 + 6 + 1,
        _ => return None,
    })
}

struct Out<'a> {
    buf: &'a mut [u8; MAX_EVENT],
    len: usize,
}

impl Out<'_> {
    fn bytes(&mut self, b: &[u8]) -> &mut Self {
        self.buf[self.len..self.len + b.len()].copy_from_slice(b);
        self.len += b.len();
        self
    }
    fn u48(&mut self, v: u64) -> &mut Self {
        self.bytes(&v.to_le_bytes()[..6])
    }
    fn u32(&mut self, v: u32) -> &mut Self {
        self.bytes(&v.to_le_bytes())
    }
    fn u8(&mut self, v: u8) -> &mut Self {
        self.bytes(&[v])
    }
}

impl Event {
    /// Encodes the event at the start of `buf`, returns its length in bytes.
    pub fn encode(&self, buf: &mut [u8; MAX_EVENT]) -> usize {
        let mut o = Out { buf, len: 0 };
        match *self {
            Event::Sync {
                op,
                object,
                ticket,
                aux,
                before,
                duration,
            } => {
                o.u48(object).u48(ticket).u48(aux).u48(before).u48(duration);
                o.u8(op as u8).u8(0).u32(SYNC);
            }
            Event::Alloc { kind, addr, size } => {
                o.u48(addr).u48(size).u8(kind as u8).u32(ALLOC);
            }
            Event::Free { addr } => {
                o.u48(addr).u32(FREE);
            }
            Event::Map { addr, size } => {
                o.u48(addr).u48(size).u32(MAP);
            }
            Event::Fresh { addr, size } => {
                o.u48(addr).u48(size).u32(FRESH);
            }
            Event::Unmap { addr, size } => {
                o.u48(addr).u48(size).u32(UNMAP);
            }
            Event::ContextStart {
                context,
                creator,
                announced,
                tid,
                at,
            } => {
                o.u32(context)
                    .u32(creator)
                    .u32(tid)
                    .u8(u8::from(announced))
                    .u48(at)
                    .u32(START);
            }
            Event::ContextEnd { reason, at } => {
                o.u48(at).u8(reason as u8).u32(END);
            }
            Event::Delay { before, duration } => {
                o.u48(before).u48(duration).u32(DELAY);
            }
            Event::Lost { bytes } => {
                o.u48(bytes).u32(LOST);
            }
            Event::Roi { begin, at } => {
                o.u48(at).u8(u8::from(begin)).u32(ROI);
            }
            Event::Time { before, taken } => {
                o.u48(before).u48(taken).u32(TIME);
            }
            Event::Switch {
                context,
                piece,
                how,
                at,
            } => {
                o.u32(context).u32(piece).u48(at).u8(how as u8).u32(SWITCH);
            }
        }
        o.len
    }

    /// Decodes the fields of the event `id`; `fields` has exactly [`field_bytes`]`(id)` bytes.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an unknown id, a wrong length or a number no writer produces.
    pub fn decode(id: u32, fields: &[u8]) -> Result<Event> {
        let invalid = |detail: &str| Error::Invalid {
            what: "event",
            offset: 0,
            detail: format!("id {id}: {detail}"),
        };
        if field_bytes(id) != Some(fields.len()) {
            return Err(invalid("unknown event or wrong length"));
        }
        let u48 = |at: usize| {
            let mut b = [0; 8];
            b[..6].copy_from_slice(&fields[at..at + 6]);
            u64::from_le_bytes(b)
        };
        let u32_at = |at: usize| {
            let mut b = [0; 4];
            b.copy_from_slice(&fields[at..at + 4]);
            u32::from_le_bytes(b)
        };
        Ok(match id {
            SYNC => Event::Sync {
                op: SyncOp::from_u8(fields[30]).ok_or_else(|| invalid("unknown operation"))?,
                object: u48(0),
                ticket: u48(6),
                aux: u48(12),
                before: u48(18),
                duration: u48(24),
            },
            ALLOC => Event::Alloc {
                kind: AllocKind::from_u8(fields[12]).ok_or_else(|| invalid("unknown kind"))?,
                addr: u48(0),
                size: u48(6),
            },
            FREE => Event::Free { addr: u48(0) },
            MAP => Event::Map {
                addr: u48(0),
                size: u48(6),
            },
            FRESH => Event::Fresh {
                addr: u48(0),
                size: u48(6),
            },
            UNMAP => Event::Unmap {
                addr: u48(0),
                size: u48(6),
            },
            START => Event::ContextStart {
                context: u32_at(0),
                creator: u32_at(4),
                tid: u32_at(8),
                announced: fields[12] != 0,
                at: u48(13),
            },
            END => Event::ContextEnd {
                at: u48(0),
                reason: EndReason::from_u8(fields[6]).ok_or_else(|| invalid("unknown reason"))?,
            },
            DELAY => Event::Delay {
                before: u48(0),
                duration: u48(6),
            },
            TIME => Event::Time {
                before: u48(0),
                taken: u48(6),
            },
            LOST => Event::Lost { bytes: u48(0) },
            SWITCH => Event::Switch {
                context: u32_at(0),
                piece: u32_at(4),
                at: u48(8),
                how: Arrival::from_u8(fields[14]).ok_or_else(|| invalid("unknown arrival"))?,
            },
            _ => Event::Roi {
                begin: fields[6] != 0,
                at: u48(0),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_encoding_and_ends_with_its_id() {
        let mut events = vec![
            Event::Alloc {
                kind: AllocKind::New,
                addr: 1 << 47,
                size: 5,
            },
            Event::Free { addr: 77 },
            Event::Map {
                addr: 4096,
                size: 8192,
            },
            Event::Fresh {
                addr: 8192,
                size: 640,
            },
            Event::Unmap {
                addr: 4096,
                size: 8192,
            },
            Event::ContextStart {
                context: 3,
                creator: 1,
                announced: true,
                tid: 99,
                at: 12,
            },
            Event::ContextEnd {
                reason: EndReason::Signal,
                at: 13,
            },
            Event::Delay {
                before: 1,
                duration: 2,
            },
            Event::Lost { bytes: 9 },
            Event::Roi { begin: true, at: 3 },
            Event::Time {
                before: 11,
                taken: 12,
            },
        ];
        events.extend((0..4).map(|n| Event::Switch {
            context: 7,
            piece: 1,
            how: Arrival::from_u8(n).unwrap(),
            at: 14,
        }));
        events.extend(
            (1..=24)
                .chain(64..=84)
                .chain(100..=106)
                .map(|n| Event::Sync {
                    op: SyncOp::from_u8(n).unwrap(),
                    object: 0xffff_ffff_ffff,
                    ticket: 2,
                    aux: 3,
                    before: 4,
                    duration: 5,
                }),
        );
        for e in events {
            let mut buf = [0; MAX_EVENT];
            let n = e.encode(&mut buf);
            let id = u32::from_le_bytes(buf[n - 4..n].try_into().unwrap());
            assert_eq!(field_bytes(id), Some(n - 4));
            assert_eq!(Event::decode(id, &buf[..n - 4]).unwrap(), e);
        }
    }

    #[test]
    fn unknown_numbers_are_errors() {
        assert!(Event::decode(999, &[]).is_err());
        assert!(Event::decode(SYNC, &[0xff; 32]).is_err());
        assert!(Event::decode(FREE, &[0; 5]).is_err());
    }
}
