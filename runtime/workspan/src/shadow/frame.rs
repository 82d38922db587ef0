//! The work-span variables of one invocation (Figure 3).

use super::{Profiles, Site};
use crate::measure::{Above, Leaves, Measure};
use crate::prof::Prof;

/// The variables of Figure 3 are times since a moment, so that a strand that ends changes nothing: what must not be
/// counted moves that moment. Prefix and continuation are one path, from the frame's begin to where it is, and the
/// longest child is told with the prefix before it, so that no spawn has to move anything from one to the other.
#[derive(Debug, Default)]
pub(super) struct Frame<T> {
    pub(super) tag: T,
    pub(super) site: Site,
    /// What is above it on the stack.
    pub(super) above: Above,
    /// No child was spawned: there is no longest one, and nothing before it.
    pub(super) plain: bool,
    /// Its work is now less this; without what its children did, now less `own_since`.
    pub(super) since: u64,
    pub(super) own_since: u64,
    /// Its path, prefix and continuation, is now less this; its own part of the path now less `own_since`, but for
    /// `own_lost` of it, which the path does not go through.
    pub(super) path_since: u64,
    pub(super) own_lost: u64,
    /// The longest path through a child spawned since the last sync, the prefix included (after a sync the prefix
    /// alone), and what of it is the frame's own.
    pub(super) longest: u64,
    longest_own: u64,
    /// The profiles: of the prefix; of the continuation, but for the leaves it called last; of the longest child, unless
    /// that is a leaf.
    pub(super) before: Prof<Measure>,
    pub(super) continuation: Prof<Measure>,
    pub(super) called: Leaves,
    pub(super) longest_prof: Prof<Measure>,
    pub(super) spawned: Leaves,
}

impl<T> Frame<T> {
    /// Invoked at `now` (lines 1-4). Its profiles are empty: those of a frame that was left are.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: u64, site: Site, tag: T, above: Above) {
        (self.tag, self.site, self.above, self.plain) = (tag, site, above, true);
        (self.since, self.own_since, self.path_since) = (now, now, now);
        (self.own_lost, self.longest, self.longest_own) = (0, 0, 0);
    }

    /// Prefix and continuation at `now`.
    #[inline(always)]
    pub(super) fn path_length(&self, now: u64) -> u64 {
        now - self.path_since
    }

    /// Of all its profiles, for [`Profiles::are_short`].
    #[inline(always)]
    pub(super) fn size(&self) -> u64 {
        self.before.size() + self.continuation.size() + self.longest_prof.size()
    }

    /// A spawned child of this span returned at `now`. Whether it makes the longest path (lines 8-13): what is to become
    /// the profile of the longest child is its own then. `SHORT`: all profiles are.
    #[inline(always)]
    pub(super) fn spawned<const SHORT: bool>(
        &mut self,
        now: u64,
        span: u64,
        pool: &mut Profiles,
    ) -> bool {
        self.plain = false;
        let path = self.path_length(now) + span;
        let is_longest = path > self.longest;
        if is_longest {
            self.longest = path;
            self.longest_own = self.own(now);
            self.close_continuation::<SHORT>(pool);
            pool.unite::<SHORT>(&mut self.before, &mut self.continuation);
            pool.free::<SHORT>(self.longest_prof.take());
            self.spawned.count = 0;
        }
        is_longest
    }

    /// Whether the leaves called last can be logged at once.
    #[inline(always)]
    pub(super) fn is_roomy(&self, pool: &Profiles) -> bool {
        pool.are_short(self.continuation.size()) && pool.has_free()
    }

    /// Neither continuation nor longest child have a profile yet, but for a longest child that is a leaf.
    #[inline(always)]
    pub(super) fn is_fresh(&self) -> bool {
        self.continuation.is_empty() && self.called.count == 0 && self.longest_prof.is_empty()
    }

    /// The leaves called last are logged.
    #[inline(always)]
    pub(super) fn close_continuation<const SHORT: bool>(&mut self, pool: &mut Profiles) {
        if self.called.count > 0 {
            let path = self.continuation.take();
            self.continuation = with_leaves::<SHORT>(path, &mut self.called, pool);
        }
    }

    /// The longest child is logged, if it is a leaf.
    #[inline(always)]
    fn close_longest<const SHORT: bool>(&mut self, pool: &mut Profiles) {
        let path = self.longest_prof.take();
        self.longest_prof = with_leaves::<SHORT>(path, &mut self.spawned, pool);
    }

    /// The frame's own part of prefix and continuation.
    #[inline(always)]
    fn own(&self, now: u64) -> u64 {
        now - self.own_since - self.own_lost
    }

    /// Lines 14-19: what is longer becomes the path.
    pub(super) fn sync(&mut self, now: u64, pool: &mut Profiles) {
        if self.plain {
            return;
        }
        if self.path_length(now) > self.longest {
            (self.longest, self.longest_own) = (self.path_length(now), self.own(now));
            self.close_continuation::<false>(pool);
            pool.union(&mut self.before, &mut self.continuation);
            pool.init(&mut self.longest_prof);
            self.spawned.count = 0;
        } else {
            self.path_since = now - self.longest;
            self.own_lost = now - self.own_since - self.longest_own;
            self.close_longest::<false>(pool);
            pool.union(&mut self.before, &mut self.longest_prof);
            pool.init(&mut self.continuation);
            self.called.count = 0;
        }
    }

    /// It returns at `now`, and synced, perhaps, at `synced` (lines 5 and 8, and before them, as Cilk has it at the end of
    /// every function, 14-19): its span, the part of it that is its own, and their profile. None is left in the frame.
    #[inline(always)]
    pub(super) fn end<const SHORT: bool>(
        &mut self,
        synced: u64,
        now: u64,
        pool: &mut Profiles,
    ) -> (u64, u64, Prof<Measure>) {
        let (span, own) = (self.path_length(now), self.own(now));
        if self.plain {
            let path = self.continuation.take();
            let path = with_leaves::<SHORT>(path, &mut self.called, pool);
            return (span, own, path);
        }
        // What follows a sync is a continuation without children.
        let after = now - synced;
        let continues = (&mut self.continuation, &mut self.called);
        let longest = (&mut self.longest_prof, &mut self.spawned);
        let (span, own, last, other) = if span - after > self.longest {
            (span, own, continues, longest)
        } else {
            let (span, own) = (self.longest + after, self.longest_own + after);
            (span, own, longest, continues)
        };
        pool.free::<SHORT>(other.0.take());
        other.1.count = 0;
        let mut path = with_leaves::<SHORT>(last.0.take(), last.1, pool);
        if !self.before.is_empty() {
            path = pool.united::<SHORT>(self.before.take(), path);
        }
        (span, own, path)
    }

    /// It is as it was made.
    pub(super) fn forget(&mut self, pool: &mut Profiles)
    where
        T: Default,
    {
        for prof in [
            &mut self.before,
            &mut self.continuation,
            &mut self.longest_prof,
        ] {
            pool.init(prof);
        }
        *self = Self::default();
    }
}

/// The profile with these leaves logged, of which there are none then.
#[inline(always)]
fn with_leaves<const SHORT: bool>(
    path: Prof<Measure>,
    leaves: &mut Leaves,
    pool: &mut Profiles,
) -> Prof<Measure> {
    if leaves.count == 0 {
        return path;
    }
    let path = pool.updated::<SHORT>(path, leaves.site, || leaves.logged());
    leaves.count = 0;
    path
}
