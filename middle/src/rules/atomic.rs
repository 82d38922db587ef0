//! Atomic variables, by the memory model of C and C++ (ISO C++ 6.9.2). An acquire comes after a
//! release if it reads what the release wrote, or what a read-modify-write of its release sequence
//! wrote.
//!
//! All operations of a variable are here in the order in which they really happened, so a load read
//! what the last write before it wrote. Relaxed operations do not order anything; fences can change
//! that (`fences`).

use contech_trace::event::SyncOp;
use rustc_hash::FxHashMap;

use super::{Event, Forgets};
use crate::edges::Edges;
use crate::error::Result;
use crate::fences::{acquires, releases};
use crate::place::Place;

#[derive(Debug, Default)]
pub(super) struct Atomic {
    /// The releases that a load would read now, directly or through their release sequence. For
    /// each context it is the last release, with its number.
    releases: FxHashMap<u32, (u64, Place)>,
    /// Number of releases so far.
    count: u64,
    /// Number of the releases that each context has acquired, and where it did so last. What it
    /// does after that place need not acquire them again. That place may be a fence that stands
    /// after operations which come later here.
    acquired: FxHashMap<u32, (u64, Place)>,
}

impl Atomic {
    pub(super) fn acquire(&mut self, at: Place, out: &mut Edges) -> Result<()> {
        let before = self.acquired.insert(at.context(), (self.count, at));
        let seen = before.map_or(0, |(seen, by)| if by <= at { seen } else { 0 });
        if seen == self.count {
            return Ok(());
        }
        for (_, release) in self.releases.values().filter(|(n, _)| *n > seen) {
            out.edge(*release, at)?;
        }
        Ok(())
    }

    pub(super) fn release(&mut self, at: Place) {
        self.count += 1;
        self.releases.insert(at.context(), (self.count, at));
    }
}

impl Forgets for Atomic {
    fn apply(&mut self, event: &Event, out: &mut Edges) -> Result<()> {
        let (acquires, releases) = (acquires(event.aux), releases(event.aux));
        if acquires && event.op != SyncOp::AtomicStore {
            self.acquire(event.at, out)?;
        }
        match event.op {
            // A store ends release sequences. So does a read-modify-write that comes after all of
            // them, because an operation that comes after it also comes after them.
            SyncOp::AtomicStore => self.releases.clear(),
            SyncOp::AtomicRmw if acquires && releases => self.releases.clear(),
            SyncOp::AtomicRmw => {}
            _ => return Ok(()),
        }
        if releases {
            self.release(event.at);
        }
        Ok(())
    }
}
