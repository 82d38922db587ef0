//! Turns segments into the blocks that they execute, which the program crate's walker finds on
//! their paths.

use contech_program::BlockId;
use contech_program::path::{
    COUNT_BYTES, CompiledFunction, CompiledLoop, NO_BLOCK, Recorded, State, Visit, Walked,
};

use super::decode::{Decoder, Scratch};
use super::segments::{MOST_EXECUTIONS, Records, Segment};
use crate::Result;
use crate::event::Event;
use crate::program::Program;

/// Many iterations of the same blocks whose operands change by constants. This is the compact form
/// of an affine loop.
#[derive(Debug, Clone, Copy)]
pub struct Affine<'a> {
    /// Blocks of one iteration in order, each with the end of its operands in `starts`.
    pub blocks: &'a [(BlockId, u32)],
    /// Operands of the first iteration.
    pub starts: &'a [u64],
    /// Change of each operand per iteration (wrapping). No operand leaves 48 bits.
    pub strides: &'a [u64],
    /// Number of iterations.
    pub iterations: u64,
}

impl Affine<'_> {
    /// Calls `f` for every block execution in program order; `scratch` holds the operands.
    pub fn expand(&self, scratch: &mut Vec<u64>, mut f: impl FnMut(u32, &[u64])) {
        scratch.clear();
        scratch.extend_from_slice(self.starts);
        for _ in 0..self.iterations {
            let mut from = 0;
            for (block, end) in self.blocks {
                f(block.get(), &scratch[from..*end as usize]);
                from = *end as usize;
            }
            for (v, stride) in scratch.iter_mut().zip(self.strides) {
                *v = v.wrapping_add(*stride);
            }
        }
    }
}

/// Takes what the decoder produces, in program order.
pub trait Sink {
    /// Takes one block execution with the operands of its operations, as the naive form records
    /// them.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// Takes one runtime event.
    fn event(&mut self, event: Event);
    /// Takes the iterations of an affine loop at once. By default, it expands them into blocks.
    fn affine(&mut self, run: &Affine<'_>, scratch: &mut Vec<u64>) {
        run.expand(scratch, |block, operands| self.block(block, operands));
    }
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
        let Scratch { walk, operands, starts } = &mut *self.scratch;
        walk.restart();
        let mut reading = Reading {
            f,
            recorded: Recorded { bytes: segment.bytes, counts: segment.counts },
            at: 0,
            starts,
            iterations: 0,
            left: MOST_EXECUTIONS,
        };
        while reading.left > 0 {
            match walk.next(f, path, state, &mut reading) {
                Walked::End => break,
                // Nests come only to visitors that take them (`Visit::nest`). Here each block comes
                // by itself.
                Walked::Nest(..) => {}
                Walked::Run(l) => {
                    let flat = f.loops[l as usize].as_ref().and_then(|l| l.flat.as_ref());
                    if let Some(flat) = flat.filter(|_| reading.left > 0) {
                        let run = Affine {
                            blocks: &flat.blocks,
                            starts: reading.starts,
                            strides: &flat.strides,
                            iterations: reading.iterations,
                        };
                        self.sink.affine(&run, operands);
                    }
                }
                Walked::Node(n) => {
                    let node = &f.nodes[n as usize];
                    for leaf in &node.leaves {
                        state.slots[leaf.slot as usize] = leaf.read(segment.bytes, reading.at);
                        reading.at += usize::from(leaf.width);
                    }
                    reading.left -= 1;
                    if node.block != NO_BLOCK {
                        let values = node.operands.iter();
                        operands.clear();
                        operands.extend(values.map(|v| v.eval(&state.slots, &state.iterations)));
                        self.sink.block(node.block, operands);
                    }
                }
            }
        }
        reading.left > 0
    }
}

/// The place where the walk finds trip counts, and what it makes of affine loops.
struct Reading<'a> {
    f: &'a CompiledFunction,
    recorded: Recorded<'a>,
    /// Where the next leaf is recorded.
    at: usize,
    /// Operands of the first iteration of the current affine loop, and the number of iterations.
    starts: &'a mut Vec<u64>,
    iterations: u64,
    /// Number of nodes that may still be executed.
    left: u64,
}

impl Visit for Reading<'_> {
    fn count(&mut self, _: u32, l: &CompiledLoop, state: &State) -> u64 {
        self.recorded.trips(l, state)
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, state: &State) -> bool {
        let Some(flat) = &l.flat else { return false };
        if !flat.start(&self.f.nodes, state, iterations, self.starts) {
            return false;
        }
        let executions = iterations.saturating_mul(flat.blocks.len().max(1) as u64);
        self.left = self.left.saturating_sub(executions);
        self.iterations = iterations;
        true
    }

    fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            self.at += COUNT_BYTES;
        }
    }
}
