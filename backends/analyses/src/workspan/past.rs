//! Edges that concern the invocations of a stack differently, and what held before them.

use super::context::{Owner, Past, State};

impl State {
    /// What held for a frame after so many edges.
    pub(super) fn past(&self, at: usize, edges: u64) -> Past {
        let frame = &self.frames[at];
        let below = at.checked_sub(1).map_or(0, |at| self.frames[at].start);
        let first = frame.past.partition_point(|past| past.until < edges);
        frame.past.get(first).copied().unwrap_or(Past {
            until: self.edges,
            since: frame.start - below,
            local_span: frame.local_span,
            on_path: frame.on_path,
            own_on_path: frame.own_on_path,
        })
    }

    /// The start of a frame, as it was after so many edges.
    pub(super) fn start(&self, at: usize, edges: u64) -> u64 {
        if edges == self.edges {
            return self.frames[at].start;
        }
        (0..=at).map(|at| self.past(at, edges).since).sum()
    }

    /// The frame `at` and those below it become as long as an edge from a child of `at` requires,
    /// whose end is `since` after the start of `at`.
    pub(super) fn raise(&mut self, at: usize, since: u64, owner: Owner) {
        let more = since.saturating_sub(self.time - self.frames[at].start);
        let inner = at + 1 < self.frames.len();
        if owner.edges == self.edges {
            // All frames below have been in the same calls since the creation.
            if more > 0 {
                if inner {
                    self.keep(at);
                    self.keep(at + 1);
                }
                self.time += more;
                let inner = self.frames[at + 1..].iter_mut();
                inner.for_each(|frame| frame.start += more);
                self.frames[at].local_span = owner.local;
            }
            return;
        }
        let mut reached: Vec<u64> = self.frames.iter().map(|f| self.time - f.start).collect();
        let (mut since, mut own) = (since, owner.local);
        for at in (0..=at).rev() {
            let past = self.past(at, owner.edges);
            if since > reached[at] {
                self.keep(at);
                reached[at] = since;
                self.frames[at].local_span = own;
            }
            since += past.since;
            own = at.checked_sub(1).map_or(0, |at| self.past(at, owner.edges).local_span);
        }
        for at in 1..reached.len() {
            if self.frames[at].start - self.frames[at - 1].start != reached[at - 1] - reached[at] {
                self.keep(at);
            }
        }
        self.time = reached[0];
        for (frame, reached) in self.frames.iter_mut().zip(reached) {
            frame.start = self.time - reached;
        }
    }

    /// Keeps what holds for a frame before the edge that is arriving.
    pub(super) fn keep(&mut self, at: usize) {
        let past = self.past(at, self.edges);
        let frame = &mut self.frames[at];
        if frame.past.last().is_none_or(|last| last.until < self.edges) {
            frame.past.push(past);
        }
        self.kept = true;
    }

    /// An edge has arrived.
    pub(super) fn arrived(&mut self) {
        self.edges += u64::from(std::mem::take(&mut self.kept));
    }

    /// The context's path now goes through a child that the frame `at` created, or, without one,
    /// comes from outside.
    pub(super) fn replace_path(&mut self, through: Option<(usize, Owner)>) {
        let inner = through.map_or(0, |(at, _)| at + 1);
        for at in inner..self.frames.len() {
            if self.frames[at].on_path {
                self.keep(at);
                self.frames[at].on_path = false;
            }
        }
        let Some((last, owner)) = through else { return };
        if owner.edges < self.edges {
            for at in 0..last {
                let past = self.past(at, owner.edges);
                let frame = &self.frames[at];
                if (past.on_path, past.own_on_path) != (frame.on_path, frame.own_on_path) {
                    self.keep(at);
                }
                let frame = &mut self.frames[at];
                (frame.on_path, frame.own_on_path) = (past.on_path, past.own_on_path);
            }
            self.frames[last].on_path = self.past(last, owner.edges).on_path;
        }
        self.frames[last].own_on_path = owner.on_path;
    }
}
