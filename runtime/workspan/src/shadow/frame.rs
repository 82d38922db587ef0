//! The work-span variables of one invocation (Figure 3).

use super::Site;
use crate::measure::Above;
use crate::prof::Log;

/// The variables of Figure 3 are stored as times since a moment, so that nothing changes when a
/// strand ends: what must not be counted moves that moment. Prefix and continuation are one path,
/// from the frame's begin to now, and the path of the longest child includes the prefix before it.
/// So no spawn has to move anything from one variable to the other.
#[derive(Clone, Copy, Debug, Default)]
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
    /// Where the profiles of the prefix, of the longest child and of the continuation begin in the
    /// list. Each ends where the next one begins.
    pub(super) prefix: usize,
    pub(super) child: usize,
    pub(super) continuation: usize,
}

impl<T: Default> Frame<T> {
    /// An invocation that begins at `now` (lines 1-4), whose profiles begin at `end`.
    #[inline(always)]
    pub(super) fn new(now: u64, site: Site, tag: T, above: Above, end: usize) -> Self {
        Self {
            tag,
            site,
            above,
            plain: true,
            since: now,
            own_since: now,
            path_since: now,
            prefix: end,
            child: end,
            continuation: end,
            ..Self::default()
        }
    }

    /// The length of prefix and continuation at `now`.
    #[inline(always)]
    pub(super) fn path_length(&self, now: u64) -> u64 {
        now - self.path_since
    }

    /// The frame's own part of prefix and continuation.
    #[inline(always)]
    pub(super) fn own(&self, now: u64) -> u64 {
        now - self.own_since - self.own_lost
    }

    /// A spawned child with this span returned at `now`; its profile begins at `from` (lines 8-13).
    #[inline(always)]
    pub(super) fn spawned(&mut self, now: u64, span: u64, from: usize, log: &mut Log) {
        self.plain = false;
        let path = self.path_length(now) + span;
        if path <= self.longest {
            return log.drop_from(from);
        }
        self.goes_on(now, path, from, log);
    }

    /// The longest path, now of this length, goes through the continuation, which becomes a part of
    /// the prefix and ends at `from`. What comes after it is the longest child.
    #[inline(always)]
    fn goes_on(&mut self, now: u64, length: u64, from: usize, log: &mut Log) {
        (self.longest, self.longest_own) = (length, self.own(now));
        self.child = from - log.cut(self.child..self.continuation);
        self.child -= log.settle(self.prefix..self.child);
        self.continuation = log.end();
    }

    /// Lines 14-19: the longer one becomes the path.
    pub(super) fn sync(&mut self, now: u64, log: &mut Log) {
        if self.plain {
            return;
        }
        let path = self.path_length(now);
        if path <= self.longest {
            self.path_since = now - self.longest;
            self.own_lost = now - self.own_since - self.longest_own;
            log.drop_from(self.continuation);
            self.child = self.continuation;
        }
        self.goes_on(now, path.max(self.longest), log.end(), log);
    }

    /// The frame returns at `now`, and synced at `synced` if it spawned (lines 5 and 8, after lines
    /// 14-19, which Cilk executes at the end of every function). Returns its span and its own part
    /// of the span; the profile of both is all that the list has of the frame.
    #[inline(always)]
    pub(super) fn end(&mut self, synced: u64, now: u64, log: &mut Log) -> (u64, u64) {
        let (span, own) = (self.path_length(now), self.own(now));
        if self.plain {
            return (span, own);
        }
        // What follows the sync is a continuation without children.
        let after = now - synced;
        if span - after > self.longest {
            log.cut(self.child..self.continuation);
            return (span, own);
        }
        log.drop_from(self.continuation);
        (self.longest + after, self.longest_own + after)
    }
}
