//! Turns segments into the blocks that they execute, which the program crate's walker finds on
//! their paths.

use std::ops::ControlFlow;

use contech_program::path::{
    CompiledFunction, CompiledLoop, Entered, NO_BLOCK, Recorded, State, Visit, Walk,
};

use super::decode::Decoder;
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
        let (walk, operands) = (Walk::default(), Vec::new());
        self.segments(payload, program, &mut Expander { program, sink, walk, operands })
    }
}

/// Gives a [`Sink`] the blocks of segments.
struct Expander<'a, S> {
    program: &'a Program,
    sink: &'a mut S,
    walk: Walk,
    operands: Vec<u64>,
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
        self.walk.restart();
        let recorded = Recorded::new(segment.bytes, segment.counts);
        let (operands, sink) = (&mut self.operands, &mut *self.sink);
        let mut each = Each { f, recorded, left: MOST_EXECUTIONS, operands, sink };
        self.walk.go(f, path, state, &mut each).is_continue()
    }
}

/// Gives a [`Sink`] each block of a path by itself.
struct Each<'a, S> {
    f: &'a CompiledFunction,
    recorded: Recorded<'a>,
    /// Number of executions that may still come.
    left: u64,
    operands: &'a mut Vec<u64>,
    sink: &'a mut S,
}

impl<'f, S: Sink> Visit<'f> for Each<'_, S> {
    /// There were too many executions.
    type Stop = ();

    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<()> {
        let node = &self.f.nodes[n as usize];
        self.recorded.leaves(node, state);
        self.left -= 1;
        if node.block != NO_BLOCK {
            let values = node.operands.iter();
            self.operands.clear();
            self.operands.extend(values.map(|v| v.eval(&state.slots, &state.iterations)));
            self.sink.block(node.block, self.operands);
        }
        match self.left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }

    fn count(&mut self, l: &CompiledLoop, state: &State) -> ControlFlow<(), u64> {
        ControlFlow::Continue(self.recorded.trips(l, state))
    }

    fn run(&mut self, _: Entered<'f>, _: &mut State) -> ControlFlow<(), bool> {
        ControlFlow::Continue(false)
    }

    fn ended(&mut self, l: &CompiledLoop) {
        self.recorded.ended(l);
    }
}
