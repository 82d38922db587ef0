//! The tables of the program's communicators, requests and messages, and what these stand for.

use std::collections::{HashMap, VecDeque};
use std::ffi::c_int;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::Acquire, Ordering::Relaxed, Ordering::Release,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contech_trace::event::SyncOp;
use contech_trace::mpi::{Direction, Meeting, Peer, direction, rank16};

use super::abi::Abi;

/// The interface, once MPI is initialised and before it is finalised.
static ABI: AtomicPtr<Abi> = AtomicPtr::new(std::ptr::null_mut());
static TABLES: Mutex<Option<Tables>> = Mutex::new(None);
/// The next place in the order of sends and posted receives.
static POSTED: AtomicU64 = AtomicU64::new(0);

/// What handles stand for.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) communicators: HashMap<u64, Arc<Communicator>>,
    /// How many communicators there were with the same members, by the checksum of the members.
    pub(super) namesakes: HashMap<u64, u64>,
    /// A queue for each handle, because a library may give one handle to several requests that were
    /// complete at once.
    pub(super) requests: HashMap<u64, VecDeque<Request>>,
    /// Messages that were matched by a probe.
    pub(super) messages: HashMap<u64, Receive>,
    /// Communicators of windows.
    pub(super) windows: HashMap<u64, Arc<Communicator>>,
}

pub(super) fn abi() -> Option<&'static Abi> {
    // SAFETY: the pointer is null or points to one of the static tables.
    unsafe { ABI.load(Acquire).as_ref() }
}

/// Sets the interface: with one, calls are recorded from now on, and with `None` they are no
/// longer.
pub(super) fn set_abi(abi: Option<&'static Abi>) {
    let pointer = abi.map_or(std::ptr::null(), std::ptr::from_ref);
    ABI.store(pointer.cast_mut(), Release);
}

/// Runs `f` on the locked tables. `f` must not call a function of MPI.
pub(super) fn with<R>(f: impl FnOnce(&mut Tables) -> R) -> R {
    let mut guard: MutexGuard<'_, _> = TABLES.lock().unwrap_or_else(PoisonError::into_inner);
    f(guard.get_or_insert_default())
}

/// The next place in the order in which sends are made and receives are posted.
pub(super) fn posted() -> u64 {
    POSTED.fetch_add(1, Relaxed)
}

pub(super) struct Communicator {
    /// The name, which is the same in all ranks of the communicator.
    pub(super) name: u64,
    /// The ranks in MPI_COMM_WORLD that messages go to, by rank in the communicator.
    pub(super) world: Vec<c_int>,
    /// This process's rank in the communicator.
    pub(super) rank: u32,
    /// Number of ranks that take part in the communicator's collective operations.
    pub(super) size: u32,
    /// The communicator is between two groups.
    pub(super) between: bool,
    pub(super) collectives: AtomicU64,
}

impl Communicator {
    /// The rank in MPI_COMM_WORLD; the largest number for a process that is not in it.
    pub(super) fn world(&self, rank: c_int) -> u16 {
        let found = usize::try_from(rank).ok().and_then(|r| self.world.get(r));
        let world = found.and_then(|w| u64::try_from(*w).ok());
        rank16(world.unwrap_or(u64::MAX))
    }

    /// The other side of a message.
    pub(super) fn peer(&self, rank: c_int, tag: c_int) -> u64 {
        Peer { rank: self.world(rank), tag: tag.cast_unsigned() }.pack()
    }

    /// The number of the next collective operation.
    pub(super) fn next(&self) -> u64 {
        self.collectives.fetch_add(1, Relaxed)
    }

    /// The packed description of a collective operation.
    pub(super) fn meeting(&self, what: SyncOp, root: c_int) -> u64 {
        let root = match direction(what) {
            Some(Direction::Ascending) => rank16(u64::from(self.rank)),
            _ => self.world(root),
        };
        Meeting { what, root, size: self.size }.pack()
    }
}

/// What a request stands for. Sends are not kept, because they were recorded when they began.
#[derive(Clone)]
pub(super) enum Request {
    Receive(Receive),
    /// A collective operation: name of the communicator, number, packed `Meeting`.
    Collective(u64, u64, u64),
    /// A communicator that is being made: the address its handle will be at.
    Communicator(usize),
    /// A request that may be started again.
    Persistent {
        send: bool,
        /// What is received, or, with the other side as the source, sent.
        message: Receive,
        /// A receive that goes on.
        goes_on: bool,
    },
}

#[derive(Clone)]
pub(super) struct Receive {
    pub(super) communicator: Arc<Communicator>,
    pub(super) source: c_int,
    pub(super) tag: c_int,
    /// The receive's place in the order of posting.
    pub(super) posted: u64,
}
