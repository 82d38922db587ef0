//! Objects of synchronisation that are used after they were destroyed. The memory remembers that an
//! object was destroyed until a new one is made there: by a call, or by a store (a static
//! initialiser).

use std::collections::BTreeMap;

use taskgraph::{Family, SyncOp, TaskId};

use super::Detector;
use crate::races::record::{Kind, Use};
use crate::races::shadow::GRANULE_SHIFT;

/// Bytes of the smallest object.
const BYTES: u64 = 4;

/// The operation, and the calls that use and destroyed the object.
pub(in crate::races) type Misuses = BTreeMap<(u8, u32, u32), Misuse>;

/// A use of an object that comes after its end.
#[derive(Clone, Copy, Debug)]
pub(in crate::races) struct Misuse {
    /// The object, in the first such use.
    pub object: u64,
    /// The task of that use.
    pub used: TaskId,
    /// The task that had destroyed the object.
    pub destroyed: TaskId,
    /// How often.
    pub count: u64,
}

impl Detector {
    /// Takes what the current task does to an object.
    pub(super) fn synchronises(&mut self, op: SyncOp, object: u64) {
        match op {
            SyncOp::ObjectInit => self.range(object, BYTES, Use::of(self.call_op(), Kind::Made)),
            SyncOp::ObjectDestroy => {
                self.range(object, BYTES, Use::of(self.call_op(), Kind::Destroyed));
                self.destroyed = true;
            }
            _ if self.destroyed => self.uses(op, object),
            _ => {}
        }
    }

    /// The C++ library makes conditions where nothing is recorded.
    fn uses(&mut self, op: SyncOp, object: u64) {
        use Family::{Barrier, Mutex, RwLock, Sem, Spin};
        let uses = matches!(op.family(), Some(Barrier | Mutex | RwLock | Sem | Spin));
        let fails = [SyncOp::MutexTryFail, SyncOp::RwTryFail, SyncOp::SemTryFail].contains(&op);
        if !uses && !fails {
            return;
        }
        if self.held.may_have(object, 1) {
            self.settle_marks();
        }
        let bit = 1u8 << (object & 7);
        let Some(state) = self.shadow.granule(object >> GRANULE_SHIFT, &mut self.states) else {
            return;
        };
        let records = self.states.records(*state).iter();
        let gone = |r: &&_| {
            let super::Record { epoch, mask, by } = **r;
            by.kind == Kind::Destroyed && mask & bit != 0 && self.clocks.ordered(epoch)
        };
        let Some(end) = records.clone().find(gone) else {
            return;
        };
        let used = self.clocks.task(self.clocks.now());
        let destroyed = self.clocks.task(end.epoch);
        let key = (op as u8, self.call_op(), end.by.op);
        let new = Misuse { object, used, destroyed, count: 0 };
        self.misuses.entry(key).or_insert(new).count += 1;
    }
}
