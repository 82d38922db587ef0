//! What begins and ends the lives of memory: allocations, frees, mappings, and stacks.

use taskgraph::Action;

use super::{CALLED_BY, Detector, Running, STACK_OP};
use crate::races::record::{Kind, Record, Use};
use crate::races::shadow::{GRANULE_SHIFT, GRANULES_OF_PAGE, address_of, page_of};

/// The operation of allocations, which is none of the program.
const NO_OP: u32 = u32::MAX;
/// New memory larger than this is a stack. It is marked only where it is used, and so many bytes
/// ahead.
const STACK: u64 = 64 << 10;
const AHEAD: u64 = 512;

impl Detector {
    /// Takes what begins or ends a life of memory.
    pub(super) fn action(&mut self, action: &Action<'_>) {
        match *action {
            Action::Alloc { addr, size, .. } => {
                let lives = self.allocations.entry(addr).or_default();
                lives.push((self.clocks.now(), size));
                self.allocate(addr, size, self.call_op());
            }
            Action::Free { addr } => self.free(addr),
            Action::Fresh { addr, size } if size > STACK => {
                self.running.low = addr;
                self.running.marked = addr.saturating_add(size);
                self.running.own[0] = (addr, self.running.marked);
                self.running.since = self.clocks.now();
                self.mark_stack(self.running.marked - AHEAD);
            }
            Action::Fresh { addr, size } => {
                self.running.own[1] = (addr, addr.saturating_add(size));
                self.renew(addr, size, Kind::Alloc, NO_OP);
            }
            Action::Map { addr, size } => {
                self.renew(addr, size, Kind::Alloc, self.call_op());
            }
            Action::Unmap { addr, size } => self.renew(addr, size, Kind::Unmap, NO_OP),
            Action::Sync { op, object } => self.synchronises(op, object),
            _ => {}
        }
    }

    /// Ends the latest allocation at `addr` that comes before the current task or is made by it.
    fn free(&mut self, addr: u64) {
        let Some(lives) = self.allocations.get(&addr) else {
            return;
        };
        let Some(at) = lives.iter().rposition(|&(epoch, _)| self.clocks.ordered(epoch)) else {
            return;
        };
        let (epoch, size) = lives[at];
        // A race with the free tells what was freed.
        self.freed(addr, size, self.call_op());
        if let Some(lives) = self.allocations.get_mut(&addr) {
            lives.retain(|life| *life != (epoch, size));
            if lives.is_empty() {
                self.allocations.remove(&addr);
            }
        }
    }

    /// Marks the stack of the current context, which is used down to an address.
    #[cold]
    pub(super) fn mark_stack(&mut self, addr: u64) {
        let Running { low, marked, .. } = self.running;
        let from = (addr.saturating_sub(AHEAD) & !(AHEAD - 1)).max(low);
        self.running.marked = from;
        self.range(from, marked - from, Use::of(STACK_OP, Kind::Alloc));
    }

    /// The operation that stands for what the last executed block calls.
    pub(super) fn call_op(&self) -> u32 {
        let block = self.running.block.map(|block| CALLED_BY | block.get());
        block.map_or(NO_OP, |op| op.min(STACK_OP - 1))
    }

    /// Begins or ends the life of a range of memory. Whole pages are handled at once.
    pub(super) fn renew(&mut self, addr: u64, size: u64, kind: Kind, op: u32) {
        if self.held.may_have(addr, size) {
            self.settle_marks();
        }
        let stop = addr.saturating_add(size);
        let first =
            page_of((addr >> GRANULE_SHIFT) + u64::from(addr & 7 != 0) + GRANULES_OF_PAGE - 1);
        let end = page_of(stop >> GRANULE_SHIFT);
        let by = Use::of(op, kind);
        if end <= first {
            return self.range(addr, size, by);
        }
        let (from, to) = (address_of(first), address_of(end));
        self.range(addr, from - addr, by);
        self.range(to, stop - to, by);
        if kind == Kind::Alloc {
            let mark = Record { epoch: self.clocks.now(), mask: 0xff, by };
            let marked = self.states.make(&[mark]);
            return self.shadow.fill(first, end, marked, &mut self.states);
        }
        let pages = self.shadow.touched(first, end).into_iter();
        pages.for_each(|page| self.page(page, by));
    }
}
