//! Turns segments into the blocks that they execute, which the program crate's walker finds on
//! their paths.

use contech_program::path::{COUNT_BYTES, CompiledLoop, NO_BLOCK, Recorded, State, Visit, Walked};

use super::decode::{Decoder, Scratch};
use super::segments::{MOST_EXECUTIONS, Records, Segment};
use crate::Result;
use crate::event::Event;
use crate::program::Program;

/// Takes what the decoder produces, in program order.
pub trait Sink {
    /// Takes one block execution with the operands of its operations, as the naive form records
    /// them.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// Takes one runtime event.
    fn event(&mut self, event: Event);
}

impl Decoder {
    /// Decodes one chunk into `sink`.
    ///
    /// # Errors
    /// At the first record that no writer produces here; what came before it in the chunk has been
    /// given to `sink` only as far as it is whole *and* after the last unreadable id, as the parse
    /// runs backwards.
    pub fn chunk(&mut self, payload: &[u8], program: &Program, sink: &mut impl Sink) -> Result<()> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut expander = Expander { program, sink, scratch: &mut scratch };
        let decoded = self.segments(payload, program, &mut expander);
        self.scratch = scratch;
        decoded
    }
}

/// Gives a [`Sink`] the blocks of segments.
pub(super) struct Expander<'a, S> {
    pub(super) program: &'a Program,
    pub(super) sink: &'a mut S,
    pub(super) scratch: &'a mut Scratch,
}

impl<S: Sink> Records for Expander<'_, S> {
    fn block(&mut self, block: u32, operands: &[u64]) {
        self.sink.block(block, operands);
    }

    fn event(&mut self, event: Event, _inside: bool) {
        self.sink.event(event);
    }

    fn segment(&mut self, segment: Segment<'_>) -> bool {
        let Some((f, path)) = self.program.compiled(segment.number) else {
            return false;
        };
        let state = segment.known.follow();
        if path.path.fresh {
            state.begin(f);
        } else if !state.fits(f) {
            return false;
        }
        let Scratch { walk, operands } = &mut *self.scratch;
        walk.restart();
        let recorded = Recorded { bytes: segment.bytes, counts: segment.counts };
        let mut reading = Reading { recorded, at: 0 };
        let mut left = MOST_EXECUTIONS;
        while left > 0 {
            match walk.next(f, path, state, &mut reading) {
                Walked::End => break,
                // Runs and nests come only to visitors that take them. Here each block comes by
                // itself.
                Walked::Run(_) | Walked::Nest(..) => {}
                Walked::Node(n) => {
                    let node = &f.nodes[n as usize];
                    for leaf in &node.leaves {
                        state.slots[leaf.slot as usize] = leaf.read(segment.bytes, reading.at);
                        reading.at += usize::from(leaf.width);
                    }
                    left -= 1;
                    if node.block != NO_BLOCK {
                        let values = node.operands.iter();
                        operands.clear();
                        operands.extend(values.map(|v| v.eval(&state.slots, &state.iterations)));
                        self.sink.block(node.block, operands);
                    }
                }
            }
        }
        left > 0
    }
}

/// The place where the walk finds trip counts.
struct Reading<'a> {
    recorded: Recorded<'a>,
    /// Where the next leaf is recorded.
    at: usize,
}

impl Visit for Reading<'_> {
    fn count(&mut self, _: u32, l: &CompiledLoop, state: &State) -> u64 {
        self.recorded.trips(l, state)
    }

    fn run(&mut self, _: u32, _: &CompiledLoop, _: u64, _: &State) -> bool {
        false
    }

    fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            self.at += COUNT_BYTES;
        }
    }
}
