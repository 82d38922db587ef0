//! Iterations of parallel loops: spawns at one place, of the loop (`cilk_for` with a grain of one, its halvings left out).

use super::{Shadow, Site, slot};
use crate::measure::{Invocation, Measure, Sum};

impl<T: Copy> Shadow<T> {
    /// F executed `count` iterations of a loop, which invoke nothing: `enter`, `advance` and `leave` for each of them, as
    /// spawns from one place in F. Together they took `work`, the longest `longest`. With a count of zero: what F did for
    /// the loop on no iteration's behalf, and in parallel with them. Outside of all invocations it is nothing.
    pub fn iterations(&mut self, site: Site, count: u64, work: u64, longest: u64) {
        let Some(f) = self.frames[..self.depth].last_mut() else {
            return;
        };
        let state = slot(&mut self.sites, site.id);
        let callers = self.active_callers.get(site.caller as usize);
        let one = Invocation {
            work: longest,
            local_work: longest,
            span: longest,
            local_span: longest,
            top_call_site: state.active == 0,
            top_caller: callers.is_none_or(|&active| active == 0),
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
        f.work += work;
        if let Some(to) = f.spawned(longest, &mut self.pool) {
            to.value += longest;
            self.pool.update(&mut to.prof, site.id, one);
        }
    }

    /// A part of the innermost invocation, which is a spawn, is over; the rest is another invocation that the caller enters
    /// when it comes, with what is returned. Both count as one.
    pub fn leave_part(&mut self) -> Option<(Site, T)> {
        let g = self.stack().last()?;
        let (site, tag, once) = (g.site, g.tag, [g.top_call_site, g.top_caller]);
        self.leave();
        let on_work = &mut slot(&mut self.sites, site.id).on_work;
        on_work.local.count -= 1;
        on_work.top_call_site.count -= u64::from(once[0]);
        on_work.top_caller.count -= u64::from(once[1]);
        Some((site, tag))
    }

    /// The innermost invocation was none: what it executed, its caller did. One that has invoked something stays one, and
    /// returns.
    pub fn dissolve(&mut self) {
        let [.., f, g] = &mut self.frames[..self.depth] else {
            return;
        };
        if !g.plain || !g.continuation.prof.is_empty() {
            self.leave();
            return;
        }
        f.work += g.work;
        f.local_work += g.local_work;
        f.continuation.add(&mut g.continuation, &mut self.pool);
        self.depth -= 1;
        let site = self.frames[self.depth].site;
        slot(&mut self.sites, site.id).active -= 1;
        *slot(&mut self.active_callers, site.caller) -= 1;
    }
}
