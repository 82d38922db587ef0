//! What the function being executed knows. Its segments are followed only when somebody asks for
//! this.

use contech_program::path::{Recorded, State, Walk};

use crate::program::Program;

/// What was known at some segment, and the segments since then.
#[derive(Debug, Default)]
pub(in crate::fast) struct Follower {
    /// What was known at that segment. It means nothing yet if a fresh segment is the first of
    /// those since.
    state: State,
    /// The segments that were not followed yet, in order. `counts` holds their recorded counts;
    /// those of each segment are reversed.
    behind: Vec<Behind>,
    counts: Vec<u64>,
    walk: Walk,
    /// The caller that asked for the state has followed the current segment.
    done: bool,
    /// By number of the path, while this is looked at: a segment hides those before it. Programs
    /// have many paths, and few of them come between two looks.
    hides: Vec<bool>,
}

/// A segment that was not followed yet.
#[derive(Clone, Copy, Debug)]
struct Behind {
    /// Dense number of the segment's path.
    number: u32,
    /// Where the segment begins in the chunk.
    offset: u32,
    counts: u32,
    /// Number of such segments, and from where one begins to where the next one does.
    times: u32,
    stride: u32,
}

/// What is known before a segment.
#[derive(Debug)]
pub struct Known<'a> {
    pub(in crate::fast) follower: &'a mut Follower,
    pub(in crate::fast) payload: &'a [u8],
    pub(in crate::fast) program: &'a Program,
}

impl<'a> Known<'a> {
    /// What is known before the segment. The caller must turn it into what is known after the
    /// segment. Before a fresh segment it can be anything.
    #[must_use]
    pub fn follow(self) -> &'a mut State {
        self.follower.catch_up(self.payload, self.program);
        self.follower.done = true;
        &mut self.follower.state
    }
}

impl Follower {
    /// Says that what is known is no longer needed.
    #[inline]
    pub(in crate::fast) fn forget(&mut self) {
        self.done = false;
        self.behind.clear();
        self.counts.clear();
    }

    /// Says that segments of one path are over and that their function goes on: where the first one
    /// began, from where one begins to where the next one does, and how many they are. `counts` are
    /// the recorded counts, if it is one.
    #[inline]
    pub(in crate::fast) fn went_on(
        &mut self,
        number: u32,
        (mut offset, stride, mut times): (usize, usize, usize),
        counts: &[u64],
    ) {
        if std::mem::take(&mut self.done) {
            (offset, times) = (offset + stride, times.saturating_sub(1));
            if times == 0 {
                return;
            }
        }
        self.counts.extend_from_slice(counts);
        // A chunk has fewer bytes than 32 bits can count.
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        self.behind.push(Behind {
            number,
            offset: narrow(offset),
            counts: narrow(counts.len()),
            times: narrow(times),
            stride: narrow(stride),
        });
    }

    /// Follows all segments so far. They must be in this chunk.
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
                for _ in 0..behind.times {
                    self.state.moved(path);
                }
                continue;
            }
            let hides = path.hides && !path.path.fresh;
            if !path.path.fresh && !self.state.fits(f) {
                continue;
            }
            for time in 0..behind.times {
                // The last one hides the others.
                if hides && time + 1 < behind.times {
                    self.state.moved(path);
                    continue;
                }
                if path.path.fresh {
                    self.state.begin(f);
                }
                let offset = behind.offset as usize + time as usize * behind.stride as usize;
                let recorded = Recorded::new(payload.get(offset..).unwrap_or(&[]), own);
                self.state.follow(path, f, recorded, &mut self.walk, |_, _| {});
            }
        }
        self.counts.clear();
    }

    /// The segments of which nothing is known but how far they counted: others of the same path
    /// hide the rest. None where one computes more than that from what is known before it.
    fn hidden(&mut self, program: &Program) -> Vec<bool> {
        let path = |behind: &Behind| program.compiled(behind.number).map(|(_, path)| path);
        let hides = |behind: &Behind| path(behind).is_some_and(|p| p.hides && !p.path.fresh);
        let mut hidden = Vec::new();
        if self.behind.len() < 2 || !self.behind[1..].iter().all(hides) {
            return hidden;
        }
        self.hides.resize(program.path_count() as usize, false);
        let mut counts = self.counts.as_slice();
        hidden.resize(self.behind.len(), false);
        for (hidden, behind) in hidden.iter_mut().zip(&self.behind).skip(1).rev() {
            let before = counts.len().saturating_sub(behind.counts as usize);
            let (rest, own) = counts.split_at(before);
            counts = rest;
            let hides = &mut self.hides[behind.number as usize];
            *hidden = *hides;
            *hides |= own.iter().all(|n| *n > 0);
        }
        self.behind.iter().for_each(|b| self.hides[b.number as usize] = false);
        hidden
    }

    /// Gives away what is known now.
    pub(super) fn take(&mut self, payload: &[u8], program: &Program) -> State {
        self.catch_up(payload, program);
        std::mem::take(&mut self.state)
    }

    /// Goes on with a state that was given away.
    pub(super) fn put_back(&mut self, state: State) {
        self.forget();
        self.state = state;
    }
}
