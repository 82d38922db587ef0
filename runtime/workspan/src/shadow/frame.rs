//! The work-span variables of one invocation (Figure 3).

use super::{Kind, Site};
use crate::measure::{Above, Invocation, Leaves};
use crate::prof::{Pool, Prof};

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
    pub(super) longest_own: u64,
    /// Whether it has made tasks.
    pub(super) tasks: bool,
    /// If its task's path does not go through its begin: how much of its own part of its path was before that path
    /// came to it.
    aside: Option<u64>,
    /// The profile of the prefix, that of the continuation without the leaves called last, those leaves, and the
    /// profile of the longest child, which is in `spawned` if that child is a leaf.
    pub(super) before: Prof,
    pub(super) continuation: Prof,
    pub(super) called: Leaves,
    pub(super) longest_prof: Prof,
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
        (self.tasks, self.aside) = (false, None);
    }

    /// The length of prefix and continuation at `now`.
    #[inline(always)]
    pub(super) fn path_length(&self, now: u64) -> u64 {
        now - self.path_since
    }

    /// A spawned child with this span returned at `now`. Returns whether it makes the longest path (lines 8-13); the
    /// caller then sets the profile of the longest child.
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

    /// Whether it has made tasks that go on when it returns at `now`. A task waits at its end for those it has made.
    #[inline(always)]
    pub(super) fn leaves_tasks(&self, now: u64) -> bool {
        self.tasks && self.site.kind == Kind::Call && self.longest > self.path_length(now)
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

    /// The task waits for its children in what this frame called at `now`, whose path has come to `reached`. Returns
    /// whether the path goes through a child of this frame.
    pub(super) fn wait(&mut self, now: u64, reached: u64, pool: &mut Pool) -> bool {
        let through = self.longest > self.path_length(now) + reached;
        if through {
            self.go_through_child(now, self.longest - reached, pool);
        }
        through
    }

    /// The task's path goes through a child of a caller and comes here only now, when this frame has executed until
    /// `now`. All its children have been waited for.
    pub(super) fn leave_path(&mut self, now: u64, pool: &mut Pool) {
        for prof in [
            &mut self.before,
            &mut self.continuation,
            &mut self.longest_prof,
        ] {
            pool.init(prof);
        }
        (self.called.count, self.spawned.count) = (0, 0);
        let own = self.own(now);
        (self.plain, self.longest, self.longest_own) = (true, 0, own);
        self.aside = Some(own);
    }

    /// What the invocation puts on the task's path when it returns.
    #[inline(always)]
    pub(super) fn on_path(&self, one: Invocation) -> Invocation {
        match self.aside {
            None => one,
            Some(aside) => {
                let own = one.local_span - aside;
                Invocation {
                    work: own,
                    local_work: own,
                    span: own,
                    local_span: own,
                    count: 0,
                    above: Above::BOTH,
                }
            }
        }
    }

    /// The frame returns at `now`, and synced at `synced` if it spawned (lines 5 and 8, after lines 14-19, which Cilk
    /// executes at the end of every function). Returns its span, its own part of the span, and the profile of both,
    /// and leaves no profile in the frame.
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

/// Adds leaves to a profile; they are then none.
#[inline(always)]
fn log(prof: &mut Prof, leaves: &mut Leaves, pool: &mut Pool) {
    if leaves.count > 0 {
        pool.update(prof, leaves.site, leaves.logged());
        leaves.count = 0;
    }
}
