//! What is kept of a parallel region and of each thread that runs in one.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Release};

use super::node::Task;
use super::word::Word;
use crate::active::Active;

pub(super) struct Region {
    /// First context of the team and, in the upper half, number of contexts. 0 before the first
    /// implicit task begins, [`BUSY`] while it does.
    team: AtomicU64,
    /// Number of the team's tasks that have begun.
    pub(super) begun: AtomicU32,
    /// The word of the task that met the region. It is a copy, because libomp moves words about if
    /// it nests teams of one.
    pub(super) encountering: Word,
    /// The region around this one of which the same thread is the primary; null if there is none.
    pub(super) outer: *mut Region,
    /// The team around the region.
    pub(super) outer_team: (u32, u32),
    /// Ticks when the region began. After the end of the primary's part: ticks at that end.
    pub(super) before: Cell<u64>,
}

const BUSY: u64 = u64::MAX;

impl Region {
    pub(super) fn new(
        encountering: Word,
        outer: *mut Region,
        outer_team: (u32, u32),
        before: u64,
    ) -> Self {
        Region {
            team: AtomicU64::new(0),
            begun: AtomicU32::new(0),
            encountering,
            outer,
            outer_team,
            before: Cell::new(before),
        }
    }

    /// The first context of the implicit tasks. The first of the team to ask reserves the numbers.
    pub(super) fn first_context(&self, a: Active, size: u32) -> u32 {
        loop {
            let known = self.team.compare_exchange(0, BUSY, Acquire, Acquire).err().unwrap_or(0);
            match known {
                0 => {
                    let first = a.recorder.reserve_contexts(size);
                    let team = u64::from(first) | u64::from(size) << 32;
                    self.team.store(team, Release);
                    return first;
                }
                BUSY => std::hint::spin_loop(),
                team => return low(team),
            }
        }
    }

    /// First context and number of the implicit tasks; `None` if none began.
    pub(super) fn team(&self) -> Option<(u32, u32)> {
        match self.team.load(Acquire) {
            0 | BUSY => None,
            team => Some((low(team), low(team >> 32))),
        }
    }
}

fn low(n: u64) -> u32 {
    u32::try_from(n & u64::from(u32::MAX)).unwrap_or(0)
}

/// A wait that has begun.
#[derive(Clone, Copy)]
pub(super) struct Wait {
    pub(super) before: u64,
    /// For a barrier: its object and, in the next fields, the ticket of the arrival and the number
    /// of participants. All are 0 for another wait.
    pub(super) object: u64,
    pub(super) ticket: u64,
    pub(super) participants: u32,
}

/// The state of a thread in OpenMP. Nothing in it needs to be dropped, so that it exists as long as
/// the thread.
pub(super) struct Worker {
    /// The task that runs; none before the first one.
    pub(super) task: Cell<Task>,
    /// The task that runs is untied, and another thread may end it (see [`super::task::settle`]).
    pub(super) untied: Cell<bool>,
    /// The innermost region of which this thread is the primary.
    pub(super) region: Cell<*mut Region>,
    /// The team that the thread is in: first context and number of contexts.
    pub(super) team: Cell<(u32, u32)>,
    /// The next task that the thread generates is undeferred.
    pub(super) undeferred: Cell<bool>,
    /// The program's stack pointer when it generated its last undeferred task.
    pub(super) stack: Cell<usize>,
    /// Address and bytes of the latest task that the program fills in.
    pub(super) descriptor: Cell<(usize, usize)>,
    /// The lock under which the thread combines partial results, if it does
    /// ([`super::exclusion::reduction`]).
    pub(super) combining: Cell<u64>,
    /// Ticks when the thread began to acquire a lock.
    pub(super) acquiring: Cell<u64>,
    /// The waits that have begun, the innermost last. There may be several, because a task that
    /// runs inside a wait may wait too.
    pub(super) waits: ManuallyDrop<RefCell<Vec<Wait>>>,
    /// The locks that the thread holds, with the tickets of their acquires.
    pub(super) held: ManuallyDrop<RefCell<Vec<(u64, u64)>>>,
}

thread_local! {
    pub(super) static WORKER: Worker = const { Worker {
        task: Cell::new(Task::NONE),
        untied: Cell::new(false),
        region: Cell::new(std::ptr::null_mut()),
        team: Cell::new((0, 1)),
        undeferred: Cell::new(false),
        stack: Cell::new(0),
        descriptor: Cell::new((0, 0)),
        combining: Cell::new(0),
        acquiring: Cell::new(0),
        waits: ManuallyDrop::new(RefCell::new(Vec::new())),
        held: ManuallyDrop::new(RefCell::new(Vec::new())),
    } };
}
