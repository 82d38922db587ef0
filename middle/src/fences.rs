//! Memory orders, and the fences of one context (ISO C++ 32.4, atomics.fences): a release fence makes later relaxed writes release,
//! an acquire fence makes earlier relaxed loads acquire, from the fence on.

use contech_trace::event::SyncOp;

use crate::place::Place;

/// Whether an operation of this memory order (as C numbers them) comes after what it reads.
pub(crate) fn acquires(order: u64) -> bool {
    matches!(order & contech_trace::abi::ATOMIC_ORDER, 1 | 2 | 4 | 5)
}

/// Whether what reads its write comes after it.
pub(crate) fn releases(order: u64) -> bool {
    matches!(order & contech_trace::abi::ATOMIC_ORDER, 3..=5)
}

const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
/// Variables whose relaxed loads an acquire fence remembers, the last ones.
const MOST: usize = 64;

/// An event for the rules: operation, address, ticket, memory order, task.
pub(crate) type Ordered = (SyncOp, u64, u64, u64, Place);

/// What fences of a context are to know.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    released: bool,
    /// Address and ticket of relaxed loads since the last acquire fence, oldest first.
    loads: Vec<(u64, u64)>,
}

impl Fences {
    /// The memory order of a recorded operation, with what the fences before it make of it.
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

    /// A fence at `at`: loads that acquire at it, each where the load is in its variable's order.
    pub(crate) fn fence(&mut self, order: u64, at: Place) -> Vec<Ordered> {
        self.released |= releases(order);
        if !acquires(order) {
            return Vec::new();
        }
        let load = |(address, ticket)| (SyncOp::AtomicLoad, address, ticket, ACQUIRE, at);
        self.loads.drain(..).map(load).collect()
    }
}
