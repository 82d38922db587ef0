//! Iterations of parallel loops: spawns from one place, which is the loop (`cilk_for` with a grain of one, without
//! its halvings).

use super::frame::Frame;
use super::{Shadow, Site};
use crate::measure::{Above, Invocation};

impl<T: Copy + Default> Shadow<T> {
    /// F executed `count` iterations of a loop, which make no invocations: `enter`, `advance` and `leave` for each,
    /// as spawns from one place in F. Together they took `work`, and the longest took `longest`. A count of zero
    /// stands for what F did for the loop outside of iterations and in parallel with them. Outside of all invocations
    /// it does nothing.
    pub fn iterations(&mut self, site: Site, count: u64, work: u64, longest: u64) {
        self.discover(site);
        let (Some(state), Some(&caller), true) = (
            self.sites.get_mut(site.id as usize),
            self.callers.get(site.caller as usize),
            self.stack.depth() > 0,
        ) else {
            return;
        };
        let above = state.above.and(caller);
        state.on_work.add_alike(count, work, above);
        self.unwaited = self.unwaited.min(self.stack.depth());
        let f = self.stack.top_mut();
        self.now += work;
        f.own_since += work;
        f.path_since += work;
        if f.spawned(self.now, longest, &mut self.pool) {
            let one = Invocation {
                work: longest,
                local_work: longest,
                span: longest,
                local_span: longest,
                count: 1,
                above,
            };
            self.pool.update(&mut f.longest_prof, site.id, one);
        }
    }

    /// Ends a part of the innermost invocation, which is a spawn. The rest is another invocation, which the caller
    /// enters later with the returned values. Both count as one.
    pub fn leave_part(&mut self) -> Option<(Site, T)> {
        let &Frame {
            site, tag, above, ..
        } = self.stack.top();
        self.leave()?;
        let state = self.sites.get_mut(site.id as usize)?;
        state.on_work.join_two(above);
        Some((site, tag))
    }

    /// Removes the innermost invocation, and counts what it executed as its caller's. If it has made invocations
    /// itself, it stays an invocation and returns.
    pub fn dissolve(&mut self) {
        if self.stack.depth() < 2 {
            return;
        }
        let g = self.stack.top();
        if !g.plain || !g.continuation.is_empty() || g.called.count > 0 {
            self.leave();
            return;
        }
        // Its time now belongs to the frame below.
        let (site, above) = (g.site, g.above);
        self.stack.pop();
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.above = above.only(Above::SITE);
        }
        if let Some(caller) = self.callers.get_mut(site.caller as usize) {
            *caller = above.only(Above::CALLER);
        }
    }
}
