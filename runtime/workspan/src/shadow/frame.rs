//! The work-span variables of one invocation (Figure 3).

use super::{Profiles, Site};
use crate::measure::{Above, Leaves, Measure};
use crate::prof::Prof;

/// The variables of Figure 3 are stored as times since a moment, so that nothing changes when a strand ends: what
/// must not be counted moves that moment. Prefix and continuation are one path, from the frame's begin to now, and
/// the path of the longest child includes the prefix before it. So no spawn has to move anything from one variable to
/// the other.
#[derive(Debug, Default)]
pub(super) struct Frame<T> {
    pub(super) tag: T,
    pub(super) site: Site,
    /// What is above the invocation on the stack.
    pub(super) above: Above,
    /// Whether no child was spawned, so that there is no longest child and nothing before it.
    pub(super) plain: bool,
    /// The work is `now - since`; without the children's work it is `now - own_since`.
    pub(super) since: u64,
    pub(super) own_since: u64,
    /// The path (prefix and continuation) is `now - path_since`. The frame's own part of it is `now - own_since -
    /// own_lost`, where `own_lost` is what the path does not go through.
    pub(super) path_since: u64,
    pub(super) own_lost: u64,
    /// The longest path through a child spawned since the last sync, including the prefix (after a sync it is the
    /// prefix alone), and the frame's own part of that path.
    pub(super) longest: u64,
    longest_own: u64,
    /// The profile of the prefix, that of the continuation without the leaves called last, those leaves, and the
    /// profile of the longest child, which is in `spawned` if that child is a leaf.
    pub(super) before: Prof<Measure>,
    pub(super) continuation: Prof<Measure>,
    pub(super) called: Leaves,
    pub(super) longest_prof: Prof<Measure>,
    pub(super) spawned: Leaves,
}

impl<T> Frame<T> {
    /// Begins an invocation at `now` (lines 1-4). The profiles are empty, as those of a frame that was left always
    /// are.
    #[inline(always)]
    pub(super) fn begin(&mut self, now: u64, site: Site, tag: T, above: Above) {
        (self.tag, self.site, self.above, self.plain) = (tag, site, above, true);
        (self.since, self.own_since, self.path_since) = (now, now, now);
        (self.own_lost, self.longest, self.longest_own) = (0, 0, 0);
    }

    /// The length of prefix and continuation at `now`.
    #[inline(always)]
    pub(super) fn path_length(&self, now: u64) -> u64 {
        now - self.path_since
    }

    /// The size of all profiles, for [`Profiles::are_short`].
    #[inline(always)]
    pub(super) fn size(&self) -> u64 {
        self.before.size() + self.continuation.size() + self.longest_prof.size()
    }

    /// A spawned child with this span returned at `now`. Returns whether it makes the longest path (lines 8-13); the
    /// caller then sets the profile of the longest child. `SHORT` says that all profiles are short.
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

    /// Whether neither the continuation nor the longest child have a profile yet; a longest child that is a leaf has
    /// none.
    #[inline(always)]
    pub(super) fn is_fresh(&self) -> bool {
        self.continuation.is_empty() && self.called.count == 0 && self.longest_prof.is_empty()
    }

    /// Logs the leaves called last.
    #[inline(always)]
    pub(super) fn close_continuation<const SHORT: bool>(&mut self, pool: &mut Profiles) {
        if self.called.count > 0 {
            let path = self.continuation.take();
            self.continuation = with_leaves::<SHORT>(path, &mut self.called, pool);
        }
    }

    /// Logs the longest child, if it is a leaf.
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

    /// Lines 14-19: the longer one becomes the path.
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

    /// The frame returns at `now`, and synced at `synced` if it spawned (lines 5 and 8, after lines 14-19, which Cilk
    /// executes at the end of every function). Returns its span, its own part of the span, and the profile of both,
    /// and leaves no profile in the frame.
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
        // What follows the sync is a continuation without children.
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

    /// Resets the frame.
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

/// The profile with these leaves logged; the leaves are then empty.
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
