//! Hooks where all is as usual: the call site is known, memory is there, profiles are short, nothing was left by a jump, no
//! code was called whose operations nobody counts, and the counter need not be read. They call nothing, and where
//! anything is not so they do nothing.

use workspan::abi::Counters;
use workspan::{Kind, Site};

use super::{Arrival, Invocation, Profile};
use crate::clock::Told;

impl Profile {
    /// A function was invoked and is going to call something.
    #[inline(always)]
    pub(crate) fn enter_at_once(&mut self, at: Arrival<'_>, counters: &mut Counters) -> bool {
        let operations = counters.operations;
        let Some(limit) = self.not_due(counters, operations, self.clock.cost.enter) else {
            return false;
        };
        let function = at.function.number.get();
        if function == 0 {
            return false;
        }
        let Some((site, slot)) = self.arrives_at_once(at) else {
            return false;
        };
        if !self.shadow.is_prepared(site) {
            return false;
        }
        let now = self.clock.time_of(operations);
        self.clock.called(operations, limit);
        counters.spawn = 0;
        self.shadow
            .enter_at(now, site, Invocation { slot, function })
    }

    /// A function was invoked and returns without having called anything.
    #[inline(always)]
    pub(crate) fn leaf_at_once(
        &mut self,
        at: Arrival<'_>,
        counters: &mut Counters,
        own: u64,
    ) -> bool {
        let operations = counters.operations + own;
        let Some(limit) = self.not_due(counters, operations, self.clock.cost.leaf) else {
            return false;
        };
        let Some((site, _)) = self.arrives_at_once(at) else {
            return false;
        };
        let (now, own) = (self.clock.time_of(operations), self.clock.of(own));
        let left = self.shadow.leaf_at_once(now, site, own);
        if left {
            self.clock.called(operations, limit);
            (counters.operations, counters.spawn) = (operations, 0);
        }
        left
    }

    /// The invocation at `at` returns; if it spawned, it synced when all but the last `after` operations were executed.
    #[inline(always)]
    pub(crate) fn leave_at_once(
        &mut self,
        at: usize,
        counters: &mut Counters,
        own: u64,
        after: u64,
    ) -> bool {
        let operations = counters.operations + own;
        let Some(limit) = self.not_due(counters, operations, self.clock.cost.leave) else {
            return false;
        };
        if self.slot(at) != self.top().slot {
            return false;
        }
        if !self.shadow.is_short() {
            return false;
        }
        let (now, after) = (self.clock.time_of(operations), self.clock.of(after));
        self.clock.called(operations, limit);
        (counters.operations, counters.spawn) = (operations, 0);
        self.shadow.leave_short(now - after, now);
        true
    }

    /// [`crate::clock::Clock::not_due`], if no code was called whose operations nobody counts and no address is that of a
    /// spawn.
    #[inline(always)]
    fn not_due(&self, counters: &Counters, operations: u64, cost: i64) -> Option<i64> {
        if counters.foreign | counters.spawn & !1 != 0 {
            return None;
        }
        self.clock.not_due(operations, cost)
    }

    /// [`Self::enter_at_once`] where the counter is to be read, of what was `told`. False, and nothing is done, if anything
    /// else is not as usual.
    pub(crate) fn enter_after_reading(&mut self, at: Arrival<'_>, told: Told) -> bool {
        let function = at.function.number.get();
        let Some((site, slot)) = self.arrives_at_once(at) else {
            return false;
        };
        if function == 0 || !self.shadow.is_prepared(site) {
            return false;
        }
        let (now, own) = self.time_in_hook(self.clock.cost.enter, told);
        self.shadow
            .enter_at(now - own, site, Invocation { slot, function })
    }

    /// [`Self::leaf_at_once`] in the same way, or where profiles are not short.
    pub(crate) fn leaf_after_reading(&mut self, at: Arrival<'_>, told: Told) -> bool {
        let Some((site, _)) = self.arrives_at_once(at) else {
            return false;
        };
        if !self.shadow.is_prepared(site) {
            return false;
        }
        let (now, own) = self.time_in_hook(self.clock.cost.leaf, told);
        self.shadow.leaf_at(now, site, own)
    }

    /// The call site if it is where it should be, and the slot, if it is below that of the innermost invocation.
    #[inline(always)]
    fn arrives_at_once(&self, at: Arrival<'_>) -> Option<(Site, usize)> {
        let (slot, top) = (self.slot(at.slot), self.top());
        let id = self.sites.at_once(at.from)?;
        let site = Site {
            id,
            caller: top.function,
            kind: if at.spawn { Kind::Spawn } else { Kind::Call },
        };
        (slot < top.slot).then_some((site, slot))
    }
}
