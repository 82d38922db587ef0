//! The work-span variables of one invocation (Figure 3).

use super::Site;
use crate::measure::{Above, Leaves};
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
    /// The profile of the prefix, that of the continuation without the leaves called last, those
    /// leaves, and the profile of the longest child, which is in `spawned` if that child is a leaf.
    pub(super) before: Prof,
    pub(super) continuation: Prof,
    pub(super) called: Leaves,
    pub(super) longest_prof: Prof,
    pub(super) spawned: Leaves,
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
            self.longest = path;
            self.longest_own = self.own(now);
            self.close_continuation(pool);
            pool.union(&mut self.before, &mut self.continuation);
            pool.init(&mut self.longest_prof);
            self.spawned.count = 0;
        }
        is_longest
    }

    /// Logs the leaves called last.
    #[inline(always)]
    pub(super) fn close_continuation(&mut self, pool: &mut Pool) {
        log(&mut self.continuation, &mut self.called, pool);
    }

    /// Logs the longest child, if it is a leaf.
    #[inline(always)]
    pub(super) fn close_longest(&mut self, pool: &mut Pool) {
        log(&mut self.longest_prof, &mut self.spawned, pool);
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
        if self.path_length(now) > self.longest {
            (self.longest, self.longest_own) = (self.path_length(now), self.own(now));
            self.close_continuation(pool);
            pool.union(&mut self.before, &mut self.continuation);
            pool.init(&mut self.longest_prof);
            self.spawned.count = 0;
        } else {
            self.go_through_child(now, self.longest, pool);
        }
    }

    /// The path, now of this length, goes through the longest child.
    fn go_through_child(&mut self, now: u64, length: u64, pool: &mut Pool) {
        self.path_since = now - length;
        self.own_lost = now - self.own_since - self.longest_own;
        self.close_longest(pool);
        pool.union(&mut self.before, &mut self.longest_prof);
        pool.init(&mut self.continuation);
        self.called.count = 0;
    }

    /// The frame returns at `now`, and synced at `synced` if it spawned (lines 5 and 8, after lines
    /// 14-19, which Cilk executes at the end of every function). Returns its span, its own part of
    /// the span, and the profile of both, and leaves no profile in the frame.
    #[inline(always)]
    pub(super) fn end(&mut self, synced: u64, now: u64, pool: &mut Pool) -> (u64, u64, Prof) {
        let (span, own) = (self.path_length(now), self.own(now));
        if self.plain {
            self.close_continuation(pool);
            return (span, own, std::mem::take(&mut self.continuation));
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
        pool.init(other.0);
        other.1.count = 0;
        log(last.0, last.1, pool);
        let mut path = std::mem::take(last.0);
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

/// Adds leaves to a profile; they are then none.
#[inline(always)]
fn log(prof: &mut Prof, leaves: &mut Leaves, pool: &mut Pool) {
    if leaves.count > 0 {
        pool.update(prof, leaves.site, leaves.logged());
        leaves.count = 0;
    }
}
