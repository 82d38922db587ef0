//! Iterations of parallel loops: spawns at one place, of the loop (`cilk_for` with a grain of one, its halvings left out).

use super::{Shadow, Site, grow};
use crate::measure::{Invocation, Measure, Sum};
use crate::prof::Prof;

impl<T: Copy> Shadow<T> {
    /// F executed `count` iterations of a loop, which invoke nothing: `enter`, `advance` and `leave` for each of them, as
    /// spawns from one place in F. Together they took `work`, the longest `longest`. With a count of zero: what F did for
    /// the loop on no iteration's behalf, and in parallel with them. Outside of all invocations it is nothing.
    pub fn iterations(&mut self, site: Site, count: u64, work: u64, longest: u64) {
        grow(&mut self.sites, site.id);
        grow(&mut self.active_callers, site.caller);
        let (Some(state), Some(active_caller), Some(f)) = (
            self.sites.get_mut(site.id as usize),
            self.active_callers.get(site.caller as usize),
            self.frames[..self.depth].last_mut(),
        ) else {
            return;
        };
        let one = Invocation {
            work: longest,
            local_work: longest,
            span: longest,
            local_span: longest,
            top_call_site: !state.active,
            top_caller: !active_caller,
        };
        let all = Sum {
            count,
            work,
            span: work,
        };
        let only = |counts: bool| if counts { all } else { Sum::default() };
        state.on_work += Measure {
            top_call_site: only(one.top_call_site),
            top_caller: only(one.top_caller),
            local: all,
        };
        self.now += work;
        f.own_since += work;
        f.continuation_since += work;
        let nothing = &mut Prof::default();
        if let Some(to) = f.spawned(self.now, longest, nothing, &mut self.pool) {
            self.pool.update(to, site.id, one);
        }
    }

    /// A part of the innermost invocation, which is a spawn, is over; the rest is another invocation that the caller enters
    /// when it comes, with what is returned. Both count as one.
    pub fn leave_part(&mut self) -> Option<(Site, T)> {
        let g = self.stack().last()?;
        let (site, tag, once) = (g.site, g.tag, [!g.below_site, !g.below_caller]);
        self.leave();
        let on_work = &mut self.sites.get_mut(site.id as usize)?.on_work;
        on_work.local.count -= 1;
        on_work.top_call_site.count -= u64::from(once[0]);
        on_work.top_caller.count -= u64::from(once[1]);
        Some((site, tag))
    }

    /// The innermost invocation was none: what it executed, its caller did. One that has invoked something stays one, and
    /// returns.
    pub fn dissolve(&mut self) {
        let [.., _, g] = &self.frames[..self.depth] else {
            return;
        };
        if !g.plain || !g.continuation.is_empty() {
            self.leave();
            return;
        }
        // Its time is now that of the frame below.
        let (site, below_site, below_caller) = (g.site, g.below_site, g.below_caller);
        self.depth -= 1;
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.active = below_site;
        }
        if let Some(active) = self.active_callers.get_mut(site.caller as usize) {
            *active = below_caller;
        }
    }
}
