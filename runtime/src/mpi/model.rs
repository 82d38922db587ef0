//! Communicators, and what requests stand for until they are complete.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use contech_trace::event::SyncOp;
use contech_trace::mpi::{Direction, Meeting, Peer, direction, rank16};

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
