//! From a context's chunks to block executions: parse backwards, evaluate forwards.

use self::resume::{Resume, Suspended};
use self::run::Run;
use super::compiled::{Affine, Compiled};
use super::expr::Environment;
use super::path::Plan;
use super::segments::recorded_counts;
use super::straight::{Act, Operand, Straight, leaf};
use crate::event::Event;
use crate::program::{Meaning, Program};
use crate::{Error, Result};

mod parse;
mod resume;
mod run;

pub(super) use resume::next;

/// Bytes of a recorded trip count.
const COUNT_BYTES: usize = 6;

/// Takes what the decoder produces, in program order.
pub trait Sink {
    /// One block execution with the operands of its operations, as the naive form records them.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// One runtime event.
    fn event(&mut self, event: Event);
    /// The iterations of an affine loop at once; unless overridden, expands them into blocks.
    fn affine(&mut self, run: &Affine<'_>, scratch: &mut Vec<u64>) {
        run.expand(scratch, |block, operands| self.block(block, operands));
    }
}

/// No segment executes more nodes than this, which takes many minutes, whatever its trip counts say.
const MOST_EXECUTIONS: u64 = if cfg!(test) { 1 << 16 } else { 1 << 38 };

/// Decoder of one context's stream: give it the context's chunks in order.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Function (dense index) and node the next segment must start at, unless it is fresh.
    pub(super) expected: Option<Resume>,
    pub(super) slots: Vec<u64>,
    pub(super) iterations: Vec<u64>,
    /// Functions cut by a signal handler, whose records stand between their segments.
    suspended: Vec<Suspended>,
    pub(super) records: Vec<Found>,
    pub(super) counts: Vec<u64>,
    pub(super) operands: Vec<u64>,
    starts: Vec<u64>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    offset: u32,
    pub(super) id: u32,
    /// Dense number of its path, [`NO_PATH`] if it is none.
    pub(super) number: u32,
}

const NO_PATH: u32 = u32::MAX;

impl Found {
    /// Where its operands begin.
    pub(super) fn offset(&self) -> usize {
        self.offset as usize
    }
}

impl Decoder {
    /// Forgets what is known, as after lost chunks: segments that need it become errors.
    pub fn forget(&mut self) {
        self.expected = None;
        self.suspended.clear();
    }

    /// Whether the bytes are whole records of instrumented code, whatever came before them; events are none.
    pub fn is_code(&mut self, payload: &[u8], program: &Program) -> bool {
        let is_event = |found: &Found| {
            found.number == NO_PATH
                && matches!(program.meaning(found.id), Some(Meaning::Event { .. }))
        };
        self.parse(payload, program).is_ok() && !self.records.iter().any(is_event)
    }

    /// Exchanges working memory with `other`, not what is known of the streams: a thread that decodes
    /// many contexts in turn needs it once, not once per context.
    pub fn swap_buffers(&mut self, other: &mut Decoder) {
        std::mem::swap(&mut self.records, &mut other.records);
        std::mem::swap(&mut self.counts, &mut other.counts);
        std::mem::swap(&mut self.operands, &mut other.operands);
    }

    /// Decodes one chunk into `sink`.
    ///
    /// # Errors
    /// At the first record that no writer produces here; what came before it in the chunk has been
    /// given to `sink` only as far as it is whole *and* after the last unreadable id, as the parse
    /// runs backwards.
    pub fn chunk(&mut self, payload: &[u8], program: &Program, sink: &mut impl Sink) -> Result<()> {
        let parsed = self.parse(payload, program);
        if parsed.is_err() {
            self.forget();
        }
        let mut outcome = Ok(());
        while let Some(found) = self.records.pop() {
            if let Err(e) = self.run(payload, program, found, sink) {
                self.forget();
                outcome = Err(e);
            }
        }
        parsed.and(outcome)
    }

    fn run(
        &mut self,
        payload: &[u8],
        program: &Program,
        found: Found,
        sink: &mut impl Sink,
    ) -> Result<()> {
        if let Some(met) = program.met(found.number) {
            return self.path(payload, program, found, met, sink);
        }
        match program.meaning(found.id) {
            Some(Meaning::Block { block, .. }) => {
                self.suspend();
                self.operands.clear();
                let at = u32::try_from(found.offset()).map_err(|_| short(found.offset(), 0))?;
                crate::stream::operands(payload, at, program.ops(block), &mut self.operands);
                sink.block(block, &self.operands);
                Ok(())
            }
            Some(Meaning::Event { field_bytes }) => {
                let fields = &payload[found.offset()..found.offset() + field_bytes];
                sink.event(Event::decode(found.id, fields)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Executes a segment.
    fn path(
        &mut self,
        payload: &[u8],
        program: &Program,
        found: Found,
        (function, plan, straight): (u32, &Plan, Option<&Straight>),
        sink: &mut impl Sink,
    ) -> Result<()> {
        let compiled = program.function(function);
        let f = &compiled.table;
        if let Some(straight) = straight {
            if straight.alone {
                self.suspend();
            } else {
                self.begin(function, f, plan, found.offset())?;
            }
            self.straight(&payload[found.offset()..], compiled, straight, sink);
            self.expected = next(function, f, plan);
            return Ok(());
        }
        let after = self.counts.len().saturating_sub(recorded_counts(f, plan));
        if let Err(e) = self.begin(function, f, plan, found.offset()) {
            // Those of the segments that follow are their own.
            self.counts.truncate(after);
            return Err(e);
        }
        let mut run = Run {
            payload,
            pos: found.offset(),
            f: compiled,
            decoder: self,
            left: MOST_EXECUTIONS,
        };
        run.items(&plan.items, sink);
        if run.left == 0 {
            return Err(Error::Invalid {
                what: "segment",
                offset: found.offset() as u64,
                detail: format!("its loops execute more than {MOST_EXECUTIONS} nodes"),
            });
        }
        self.expected = next(function, f, plan);
        Ok(())
    }

    /// Executes a segment without collapsed loops, whose record `record` begins with.
    fn straight(&mut self, record: &[u8], f: &Compiled, straight: &Straight, sink: &mut impl Sink) {
        let mut operands = std::mem::take(&mut self.operands);
        let mut from = 0;
        for act in &straight.acts {
            match *act {
                Act::Leaf { at, width, slot } => {
                    self.slots[slot as usize] = read(record, at as usize, width);
                }
                Act::Enter(l) => self.iterations[l as usize] = 0,
                Act::Next(l) => {
                    let i = &mut self.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Act::Block { block, end } => {
                    let end = end as usize;
                    operands.clear();
                    for operand in &straight.operands[from..end] {
                        operands.push(match *operand {
                            Operand::Is(v) => v,
                            Operand::Leaf {
                                at,
                                shift,
                                add,
                                mask,
                            } => leaf(record, at as usize, shift).wrapping_add(add) & mask,
                            Operand::Other { node, k } => {
                                let env = Environment {
                                    slots: &self.slots,
                                    iterations: &self.iterations,
                                    globals: &[], // folded into constants
                                };
                                f.operands[node as usize][k as usize].eval(&env)
                            }
                        });
                    }
                    from = end;
                    sink.block(block, &operands);
                }
            }
        }
        self.operands = operands;
    }
}

/// A little-endian value of 1, 2, 4, 6 or 8 bytes; what lies outside the payload reads as 0.
#[inline]
fn read(payload: &[u8], at: usize, width: u8) -> u64 {
    leaf(payload, at, 64 - 8 * width.clamp(1, 8))
}

fn short(have: usize, need: usize) -> Error {
    Error::Truncated {
        what: "record",
        offset: 0,
        need: need as u64,
        have: have as u64,
    }
}
