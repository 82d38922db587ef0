//! The work-span variables of one invocation (Figure 3).

use super::Site;
use crate::measure::Above;
use crate::prof::{Pool, Prof};

/// The variables of Figure 3 are stored as times since a moment, so that nothing changes when a
/// strand ends: what must not be counted moves that moment. Prefix and continuation are one path,
/// from the frame's begin to now, and the path of the longest child includes the prefix before it.
/// So no spawn has to move anything from one variable to the other.
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
    /// The path (prefix and continuation) is `now - path_since`. The frame's own part of it is
    /// `now - own_since - own_lost`, where `own_lost` is what the path does not go through.
    pub(super) path_since: u64,
    pub(super) own_lost: u64,
    /// The longest path through a child spawned since the last sync, including the prefix (after a
    /// sync it is the prefix alone), and the frame's own part of that path.
    pub(super) longest: u64,
    pub(super) longest_own: u64,
    /// The profiles of the prefix, of the continuation, and of the longest child.
    pub(super) before: Prof,
    pub(super) continuation: Prof,
    pub(super) longest_prof: Prof,
}

impl<T> Frame<T> {
    /// Begins an invocation at `now` (lines 1-4). The profiles are empty, as those of a frame that
    /// was left always are.
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

    /// A spawned child with this span returned at `now`. Returns whether it makes the longest path
    /// (lines 8-13); the caller then sets the profile of the longest child.
    #[inline(always)]
    pub(super) fn spawned(&mut self, now: u64, span: u64, pool: &mut Pool) -> bool {
        self.plain = false;
        let path = self.path_length(now) + span;
        let is_longest = path > self.longest;
        if is_longest {
            self.goes_on(now, path, pool);
        }
        is_longest
    }

    /// The longest path, now of this length, goes through the continuation, which becomes a part of
    /// the prefix.
    #[inline(always)]
    fn goes_on(&mut self, now: u64, length: u64, pool: &mut Pool) {
        (self.longest, self.longest_own) = (length, self.own(now));
        pool.union(&mut self.before, &mut self.continuation);
        pool.init(&mut self.longest_prof);
    }

    /// The frame's own part of prefix and continuation.
    #[inline(always)]
    pub(super) fn own(&self, now: u64) -> u64 {
        now - self.own_since - self.own_lost
    }

    /// Lines 14-19: the longer one becomes the path.
    pub(super) fn sync(&mut self, now: u64, pool: &mut Pool) {
        if self.plain {
            return;
        }
        let path = self.path_length(now);
        if path > self.longest {
            return self.goes_on(now, path, pool);
        }
        self.path_since = now - self.longest;
        self.own_lost = now - self.own_since - self.longest_own;
        pool.union(&mut self.before, &mut self.longest_prof);
        pool.init(&mut self.continuation);
    }

    /// The frame returns at `now`, and synced at `synced` if it spawned (lines 5 and 8, after lines
    /// 14-19, which Cilk executes at the end of every function). Returns its span, its own part of
    /// the span, and the profile of both, and leaves no profile in the frame.
    #[inline(always)]
    pub(super) fn end(&mut self, synced: u64, now: u64, pool: &mut Pool) -> (u64, u64, Prof) {
        let (span, own) = (self.path_length(now), self.own(now));
        if self.plain {
            return (span, own, self.continuation.take());
        }
        // What follows the sync is a continuation without children.
        let after = now - synced;
        let (continuation, longest) = (&mut self.continuation, &mut self.longest_prof);
        let (span, own, last, other) = if span - after > self.longest {
            (span, own, continuation, longest)
        } else {
            (self.longest + after, self.longest_own + after, longest, continuation)
        };
        pool.init(other);
        let mut path = last.take();
        pool.union(&mut path, &mut self.before);
        (span, own, path)
    }

    /// Resets the frame.
    pub(super) fn forget(&mut self, pool: &mut Pool)
    where
        T: Default,
    {
        for prof in [&mut self.before, &mut self.continuation, &mut self.longest_prof] {
            pool.init(prof);
        }
        *self = Self::default();
    }
}
