//! Events in the usual case: the call site is known, there is memory, and no jump left an
//! invocation. These functions call nothing; in any other case they do nothing and return false.

use workspan::Site;

use super::{Arrival, Invocation, Profile};

impl Profile {
    /// A function was invoked and is going to call something.
    #[inline(always)]
    pub(crate) fn enter_at_once(&mut self, at: Arrival<'_>, began: u64) -> bool {
        let function = at.function.number.get();
        if function == 0 {
            return false;
        }
        let Some((site, slot)) = self.arrives_at_once(at) else {
            return false;
        };
        self.shadow.enter_at(began, site, Invocation { slot, function })
    }

    /// A function was invoked and returns without having called anything.
    #[inline(always)]
    pub(crate) fn leaf_at_once(&mut self, at: Arrival<'_>, now: u64, own: u64) -> bool {
        let Some((site, _)) = self.arrives_at_once(at) else {
            return false;
        };
        self.shadow.leaf_at(now, site, own)
    }

    /// The invocation at `at` returns. If it spawned, it synced before its last `after` units of
    /// time.
    #[inline(always)]
    pub(crate) fn leave_at_once(&mut self, at: usize, now: u64, after: u64) -> bool {
        self.slot(at) == self.top().slot && self.shadow.leave_at(now - after, now).is_some()
    }

    /// The call site if it is known, and the slot if it is below that of the innermost invocation.
    #[inline(always)]
    fn arrives_at_once(&self, at: Arrival<'_>) -> Option<(Site, usize)> {
        let (slot, top) = (self.slot(at.slot), self.top());
        let id = self.sites.at_once(at.from)?;
        let site = Site { id, caller: top.function, kind: at.kind };
        (slot < top.slot).then_some((site, slot))
    }
}
