//! The work-span variables of one invocation (Figure 3).

use super::{Profiles, Site};
use crate::measure::{Above, Measure};
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
    /// The profiles: of the prefix, of the continuation, of the longest child.
    pub(super) before: Prof<Measure>,
    pub(super) continuation: Prof<Measure>,
    pub(super) longest_prof: Prof<Measure>,
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
            pool.unite::<SHORT>(&mut self.before, &mut self.continuation);
            pool.free::<SHORT>(self.longest_prof.take());
        }
        is_longest
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
            pool.union(&mut self.before, &mut self.continuation);
            pool.init(&mut self.longest_prof);
        } else {
            self.path_since = now - self.longest;
            self.own_lost = now - self.own_since - self.longest_own;
            pool.union(&mut self.before, &mut self.longest_prof);
            pool.init(&mut self.continuation);
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
            return (span, own, self.continuation.take());
        }
        // What follows a sync is a continuation without children.
        let after = now - synced;
        let (span, own, last, other) = if span - after > self.longest {
            (span, own, &mut self.continuation, &mut self.longest_prof)
        } else {
            let (span, own) = (self.longest + after, self.longest_own + after);
            (span, own, &mut self.longest_prof, &mut self.continuation)
        };
        pool.free::<SHORT>(other.take());
        let mut path = last.take();
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
