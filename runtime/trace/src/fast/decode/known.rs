//! What the function being executed knows: its segments are followed no further than somebody asks.

use contech_program::path::{Recorded, State, Walk};

use crate::program::Program;

/// What was known somewhere, and the segments since.
#[derive(Debug, Default)]
pub(in crate::fast) struct Follower {
    /// What was known, of the function with this number; nothing yet where a fresh segment is the first of those since.
    state: State,
    /// The segments that were not followed yet, in order, and their recorded counts, the last of each first.
    behind: Vec<Behind>,
    counts: Vec<u64>,
    walk: Walk,
    /// The segment at hand was followed by whoever asked.
    done: bool,
}

/// A segment that was not followed yet.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// Dense number of its path.
    number: u32,
    /// Where it begins in the chunk.
    offset: u32,
    counts: u32,
}

/// What is known before a segment.
#[derive(Debug)]
pub struct Known<'a> {
    pub(in crate::fast) follower: &'a mut Follower,
    pub(in crate::fast) payload: &'a [u8],
    pub(in crate::fast) program: &'a Program,
}

impl<'a> Known<'a> {
    /// What is known before the segment; whoever asks makes it what is known after it. Of a fresh segment it is anything.
    #[must_use]
    pub fn follow(self) -> &'a mut State {
        self.follower.catch_up(self.payload, self.program);
        self.follower.done = true;
        &mut self.follower.state
    }
}

impl Follower {
    /// What is known is not needed any more.
    #[inline]
    pub(in crate::fast) fn forget(&mut self) {
        self.done = false;
        self.behind.clear();
        self.counts.clear();
    }

    /// A segment is over, after which its function goes on. `counts` are its recorded ones.
    #[inline]
    pub(in crate::fast) fn went_on(&mut self, number: u32, offset: usize, counts: &[u64]) {
        if std::mem::take(&mut self.done) {
            return;
        }
        self.counts.extend_from_slice(counts);
        // A chunk has less bytes than numbers of 32 bits.
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.behind.push(Behind {
            number,
            offset: narrow(offset),
            counts: narrow(counts.len()),
        });
    }

    /// Follows all segments up to here, which are in this chunk.
    pub(in crate::fast) fn catch_up(&mut self, payload: &[u8], program: &Program) {
        let hidden = self.hidden(program);
        let mut counts = self.counts.as_slice();
        for (at, behind) in self.behind.drain(..).enumerate() {
            let (own, rest) = counts.split_at(counts.len().min(behind.counts as usize));
            counts = rest;
            let Some((f, path)) = program.compiled(behind.number) else {
                continue;
            };
            if hidden.get(at) == Some(&true) {
                self.state.moved(path);
                continue;
            }
            if path.path.fresh {
                self.state.begin(f);
            } else if !self.state.fits(f) {
                continue;
            }
            let mut recorded = Recorded {
                bytes: payload.get(behind.offset as usize..).unwrap_or(&[]),
                counts: own,
            };
            self.state
                .follow(path, f, &mut recorded, &mut self.walk, |_, _| {});
        }
        self.counts.clear();
    }

    /// The segments of which nothing is known but how far they counted: others of the same path hide the rest. None where one
    /// computes more than that from what is known before it.
    fn hidden(&self, program: &Program) -> Vec<bool> {
        let path = |behind: &Behind| program.compiled(behind.number).map(|(_, path)| path);
        let hides = |behind: &Behind| path(behind).is_some_and(|p| p.hides && !p.path.fresh);
        let mut hidden = Vec::new();
        if self.behind.len() < 2 || !self.behind[1..].iter().all(hides) {
            return hidden;
        }
        let mut hiding = vec![false; program.path_count() as usize];
        let mut counts = self.counts.as_slice();
        hidden.resize(self.behind.len(), false);
        for (hidden, behind) in hidden.iter_mut().zip(&self.behind).skip(1).rev() {
            let before = counts.len().saturating_sub(behind.counts as usize);
            let (rest, own) = counts.split_at(before);
            counts = rest;
            let hiding = &mut hiding[behind.number as usize];
            *hidden = *hiding;
            *hiding |= own.iter().all(|n| *n > 0);
        }
        hidden
    }

    /// Gives away what is known here.
    pub(super) fn take(&mut self, payload: &[u8], program: &Program) -> State {
        self.catch_up(payload, program);
        std::mem::take(&mut self.state)
    }

    /// Goes on with what was given away.
    pub(super) fn put_back(&mut self, state: State) {
        self.forget();
        self.state = state;
    }
}
