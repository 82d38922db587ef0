//! Memory orders, and the fences of one context (ISO C++ 32.4, atomics.fences). A release fence
//! makes later relaxed writes release writes. An acquire fence makes earlier relaxed loads acquire
//! loads, from the fence on.

use contech_trace::event::SyncOp;

use crate::place::Place;

/// Whether an operation of this memory order (in C's numbering) comes after the write that it
/// reads.
pub(crate) fn acquires(order: u64) -> bool {
    matches!(order & contech_trace::abi::ATOMIC_ORDER, 1 | 2 | 4 | 5)
}

/// Whether an operation that reads a write of this memory order comes after the write.
pub(crate) fn releases(order: u64) -> bool {
    matches!(order & contech_trace::abi::ATOMIC_ORDER, 3..=5)
}

const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
/// Number of variables whose relaxed loads an acquire fence remembers: those that were loaded last.
const MOST: usize = 64;

/// An event for the rules: operation, address, ticket, memory order, task.
pub(crate) type Ordered = (SyncOp, u64, u64, u64, Place);

/// What is remembered of a context for its fences.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    released: bool,
    /// Address and ticket of relaxed loads since the last acquire fence, oldest first.
    loads: Vec<(u64, u64)>,
}

impl Fences {
    /// The memory order of a recorded operation, strengthened by the fences before it.
    pub(crate) fn order(&mut self, op: SyncOp, object: u64, ticket: u64, order: u64) -> u64 {
        let reads = op != SyncOp::AtomicStore;
        if reads && !acquires(order) {
            self.loads.retain(|(address, _)| *address != object);
            if self.loads.len() == MOST {
                self.loads.remove(0);
            }
            self.loads.push((object, ticket));
        }
        let writes = matches!(op, SyncOp::AtomicStore | SyncOp::AtomicRmw);
        match (writes && self.released && !releases(order), acquires(order)) {
            (false, _) => order,
            (true, false) => RELEASE,
            (true, true) => 4,
        }
    }

    /// Takes a fence at `at`. Returns the loads that acquire at the fence, each with the ticket of
    /// the load in its variable's order.
    pub(crate) fn fence(&mut self, order: u64, at: Place) -> Vec<Ordered> {
        self.released |= releases(order);
        if !acquires(order) {
            return Vec::new();
        }
        let load = |(address, ticket)| (SyncOp::AtomicLoad, address, ticket, ACQUIRE, at);
        self.loads.drain(..).map(load).collect()
    }
}
