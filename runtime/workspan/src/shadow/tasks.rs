//! Tasks that are children of the task that makes them, not of the function: a wait concerns all functions of the task,
//! and a function may leave tasks to its caller (OpenMP; Cilk's functions wait for their own).

use super::{Kind, Shadow, Totals};
use crate::measure::{Above, Invocation};

impl<T: Copy + Default> Shadow<T> {
    /// The task that F belongs to waits for its children: not only F syncs, but also what called it, up to the
    /// invocation that was spawned.
    pub fn wait(&mut self) {
        self.sync();
        let (mut until, mut reached) = (self.now, 0);
        let mut waited = self.stack.depth();
        let frames = self.stack.above_mut();
        while waited > 0 && waited >= self.unwaited {
            let (outer, inner) = frames.split_at_mut(waited);
            let frame = &mut outer[waited - 1];
            if !inner.is_empty() && frame.wait(until, reached, &mut self.pool) {
                let mut until = self.now;
                for frame in inner.iter_mut().rev() {
                    frame.leave_path(until, &mut self.pool);
                    until = frame.since;
                }
            }
            if frame.site.kind != Kind::Call {
                break;
            }
            reached += frame.path_length(until);
            until = frame.since;
            waited -= 1;
        }
        if waited <= self.unwaited {
            self.unwaited = usize::MAX;
        }
    }

    /// G returns to F, which called it, at `now`, and leaves F a task that takes longer than G's own path.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_on(&mut self, now: u64) -> Option<Totals> {
        let depth = self.stack.depth().checked_sub(1)?;
        let (g, f) = self.stack.pop()?;
        let pool = &mut self.pool;
        g.close_continuation(pool);
        g.close_longest(pool);
        let (site, work, span) = (g.site, now - g.since, g.path_length(now));
        let one = Invocation {
            work,
            local_work: now - g.own_since,
            span,
            local_span: g.own(now),
            count: 1,
            above: g.above,
        };
        let beside = Invocation {
            span: g.longest,
            local_span: g.longest_own,
            ..one
        };
        let (beside, on_path) = (g.on_path(beside), g.on_path(one));
        if let Some(state) = self.sites.get_mut(site.id as usize) {
            state.on_work.add_one(one);
            if g.above != Above::BOTH {
                state.above = g.above.only(Above::SITE);
                if let Some(caller) = self.callers.get_mut(site.caller as usize) {
                    *caller = g.above.only(Above::CALLER);
                }
            }
        }
        f.own_since += work;
        f.path_since += work - span;
        f.close_continuation(pool);
        pool.update(&mut g.continuation, site.id, on_path);
        let reached = f.path_length(now) - span + g.longest;
        if reached > f.longest {
            (f.longest, f.longest_own) = (reached, f.own(now));
            f.spawned.count = 0;
            pool.update(&mut g.longest_prof, site.id, beside);
            pool.init(&mut f.longest_prof);
            pool.union(&mut f.longest_prof, &mut g.longest_prof);
            pool.union(&mut f.before, &mut f.continuation);
            pool.union(&mut f.before, &mut g.before);
        } else {
            pool.init(&mut g.longest_prof);
            pool.union(&mut f.continuation, &mut g.before);
        }
        pool.union(&mut f.continuation, &mut g.continuation);
        (f.plain, f.tasks) = (false, true);
        self.unwaited = self.unwaited.min(depth);
        Some(Totals { work, span })
    }
}
