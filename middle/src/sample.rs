//! Which code of a stream is encoded where a graph is to have only a sample of it. Parts of so many
//! segments are drawn at random. Events are always encoded, and so is the code right after one that
//! may end a task: what tasks of little code execute is known exactly. So is the segment right
//! before a synchronisation, which has the place of that, and the code right after a position: what
//! little code a thread executes while it does something that takes long, such as a large copy or a
//! call, would be missing in most samples.

use taskgraph::{AFTER_EVENT, AccessesOf, CodeOf, EncodedFrame, Unrecorded};

/// Segments and blocks of a part, which takes some tens of microseconds; and of what comes right
/// after a position.
const PART: u32 = 2048;

/// How far a stream is.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// One part in so many is drawn; 0 or 1 if all of them are.
    every: u32,
    /// The stream, its parts so far, whether the last one was drawn, and how many segments are left
    /// of it.
    stream: u32,
    parts: u32,
    drawn: bool,
    left: u32,
    /// Blocks since the last event.
    since: u64,
    /// How many segments after the last position are still to be encoded.
    after_position: u32,
    /// Which code the frame has that is being encoded, and whether code after it was left out.
    frame: CodeOf,
    left_out: bool,
}

/// What to do with a segment or block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    No,
    Yes,
    /// Yes, in a frame of its own: what came before was left out, or is there for another reason.
    Anew(CodeOf),
}

impl Sample {
    /// Says which stream it is of, and that one part in so many is drawn.
    pub(crate) fn begin(&mut self, stream: u32, every: u32) {
        (self.stream, self.every) = (stream, every);
    }

    /// Takes note of a segment or a block, and whether a synchronisation comes right after it.
    #[inline]
    pub(crate) fn code(&mut self, synchronises: bool) -> Taken {
        match self.leaves_out() {
            true => self.draw(synchronises),
            false => Taken::Yes,
        }
    }

    /// Whether not all code is drawn.
    #[inline]
    pub(crate) fn leaves_out(&self) -> bool {
        self.every > 1
    }

    fn draw(&mut self, synchronises: bool) -> Taken {
        if self.left == 0 {
            self.parts = self.parts.wrapping_add(1);
            // As good as random, because programs have periods.
            let part = u64::from(self.stream) << 32 | u64::from(self.parts);
            let mixed = (part ^ part >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            self.drawn = (mixed >> 33).is_multiple_of(self.every.into());
            self.left = PART;
        }
        self.left -= 1;
        let code = if self.after_position > 0 {
            self.after_position -= 1;
            CodeOf::Positions
        } else if self.drawn {
            CodeOf::Drawn
        } else if synchronises || self.since < u64::from(AFTER_EVENT) {
            CodeOf::Events
        } else {
            self.left_out = true;
            return Taken::No;
        };
        match self.left_out || code != self.frame {
            true => Taken::Anew(code),
            false => Taken::Yes,
        }
    }

    /// How many of so many equal segments come together, once the first one is taken.
    pub(crate) fn together(&self, times: usize) -> usize {
        match self.frame {
            _ if !self.leaves_out() => times,
            CodeOf::Drawn => times.min(1 + self.left as usize),
            CodeOf::Events | CodeOf::Positions => 1,
        }
    }

    /// Takes note of so many segments that were encoded, with so many blocks.
    #[inline]
    pub(crate) fn encoded(&mut self, segments: usize, blocks: u64) {
        let more = u32::try_from(segments).unwrap_or(u32::MAX).saturating_sub(1);
        self.left = self.left.saturating_sub(more);
        self.since += blocks;
    }

    /// Begins a frame with this code.
    pub(crate) fn begin_frame(&mut self, code: CodeOf) {
        (self.frame, self.left_out) = (code, false);
    }

    /// Says which code a frame has that ends.
    pub(crate) fn finish(&self, mut frame: EncodedFrame) -> EncodedFrame {
        frame.set_code(self.frame);
        frame
    }

    /// Takes note of an event that may end a task.
    pub(crate) fn event(&mut self) {
        self.since = 0;
    }

    /// Takes note of a position.
    pub(crate) fn position(&mut self) {
        self.after_position = PART;
    }
}

/// What is missing in a graph with one part of the code in so many.
pub(crate) fn left_out(every: u32) -> Option<Unrecorded> {
    let unrecorded = Unrecorded { of: AccessesOf::Sample, since_ns: None };
    (every > 1).then_some(unrecorded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The code of so many segments that are taken, of one block each.
    fn taken(sample: &mut Sample, times: u32) -> Vec<CodeOf> {
        let mut taken = Vec::new();
        for _ in 0..times {
            match sample.code(false) {
                Taken::No => continue,
                Taken::Yes => {}
                Taken::Anew(code) => sample.begin_frame(code),
            }
            sample.encoded(1, 1);
            taken.push(sample.frame);
        }
        taken
    }

    fn sample(every: u32) -> Sample {
        let mut sample = Sample::default();
        sample.begin(1, every);
        sample
    }

    #[test]
    fn all_is_taken_without_a_sample() {
        let mut sample = sample(1);
        assert_eq!(taken(&mut sample, 100_000).len(), 100_000);
        assert_eq!(sample.together(7), 7);
    }

    #[test]
    fn one_part_in_eight_is_taken_and_what_follows_an_event() {
        let mut sample = sample(8);
        let (mut drawn, mut events) = (0, 0);
        for _ in 0..4000 {
            sample.event();
            let taken = taken(&mut sample, PART);
            let count = |code| taken.iter().filter(|taken| **taken == code).count();
            drawn += count(CodeOf::Drawn);
            events += count(CodeOf::Events);
            assert_eq!(count(CodeOf::Positions), 0);
        }
        assert!((400..600).contains(&(drawn / PART as usize)), "{drawn}");
        assert_eq!(events % AFTER_EVENT as usize, 0);
        assert_eq!(drawn / PART as usize + events / AFTER_EVENT as usize, 4000);
    }

    #[test]
    fn what_follows_a_gap_has_a_frame_of_its_own() {
        let mut sample = sample(1 << 31);
        assert_eq!(taken(&mut sample, 1000).len(), AFTER_EVENT as usize);
        sample.event();
        assert_eq!(sample.code(false), Taken::Anew(CodeOf::Events));
        sample.begin_frame(CodeOf::Events);
        assert_eq!(sample.code(false), Taken::Yes);
    }

    #[test]
    fn what_comes_right_before_a_synchronisation_is_taken() {
        let mut sample = sample(1 << 31);
        taken(&mut sample, 1000);
        assert_eq!(sample.code(false), Taken::No);
        assert_eq!(sample.code(true), Taken::Anew(CodeOf::Events));
    }

    #[test]
    fn what_follows_a_position_is_taken() {
        let mut sample = sample(1 << 31);
        taken(&mut sample, 1000);
        sample.position();
        let after = vec![CodeOf::Positions; PART as usize];
        assert_eq!(taken(&mut sample, 5000), after);
    }
}
