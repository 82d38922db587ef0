//! A chunk's records as they are: segments with the bytes of their leaves, not the blocks they stand for.

use contech_program::path::Step;

use super::decode::{Decoder, next};
use super::path::Plan;
use super::table::FastFunction;
use crate::abi::ID_BYTES;
use crate::event::Event;
use crate::program::{Meaning, Program};
use crate::{Error, Result};

/// Bytes given beyond a record, so that each of its leaves can be read as a word.
const SLACK: usize = 8;

/// One recorded segment.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Dense number of its path.
    pub number: u32,
    /// What it executes.
    pub plan: &'a Plan,
    /// Its leaves and recorded counts, and a few bytes of what follows.
    pub bytes: &'a [u8],
    /// It goes on where something else interrupted its function.
    pub resumed: bool,
    /// Recorded trip counts, the first one last.
    pub counts: &'a mut Vec<u64>,
    /// What is known before, to be made what is known after: leaf slots.
    pub slots: &'a mut Vec<u64>,
    /// And iteration numbers.
    pub iterations: &'a mut Vec<u64>,
}

/// Takes records in program order.
pub trait Records {
    /// One block execution in naive form, with the operands of its operations.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// One runtime event; with `inside`, a function goes on after it with what is known now.
    fn event(&mut self, event: Event, inside: bool);
    /// One segment; false when it cannot be used.
    fn segment(&mut self, segment: Segment<'_>) -> bool;
}

impl Decoder {
    /// As [`Decoder::chunk`], but segments are not expanded: `sink` keeps slots and iteration numbers.
    ///
    /// # Errors
    /// As [`Decoder::chunk`].
    pub fn segments(
        &mut self,
        payload: &[u8],
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let parsed = self.parse(payload, program);
        if parsed.is_err() {
            self.forget();
        }
        let mut outcome = Ok(());
        while let Some(found) = self.records.pop() {
            let end = self.records.last().map_or(payload.len(), |r| r.offset());
            let done = match program.met(found.number) {
                Some(plan) => {
                    let offset = found.offset();
                    let bytes = &payload[offset..payload.len().min(end + SLACK)];
                    self.segment(bytes, offset, (found.number, plan), program, sink)
                }
                None => {
                    let fields = &payload[found.offset()..end - ID_BYTES];
                    self.record(fields, found.id, program, sink)
                }
            };
            if let Err(e) = done {
                self.forget();
                outcome = Err(e);
            }
        }
        parsed.and(outcome)
    }

    #[inline]
    fn record(
        &mut self,
        fields: &[u8],
        id: u32,
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        match program.meaning(id) {
            Some(Meaning::Block { block, .. }) => {
                self.suspend();
                self.operands.clear();
                crate::stream::operands(fields, 0, program.ops(block), &mut self.operands);
                sink.block(block, &self.operands);
            }
            Some(Meaning::Event { .. }) => {
                sink.event(Event::decode(id, fields)?, self.expected.is_some());
            }
            // Paths were met when the chunk was parsed.
            Some(Meaning::Path { .. }) | None => {}
        }
        Ok(())
    }

    #[inline]
    fn segment(
        &mut self,
        bytes: &[u8],
        offset: usize,
        (number, plan): (u32, &Plan),
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let f = program.function(plan.path.function);
        let recorded = recorded_counts(f, plan);
        let counts_after = self.counts.len().saturating_sub(recorded);
        let begun = self.begin(f, plan, offset);
        let taken = begun.map(|resumed| {
            sink.segment(Segment {
                number,
                plan,
                bytes,
                resumed,
                counts: &mut self.counts,
                slots: &mut self.slots,
                iterations: &mut self.iterations,
            })
        });
        self.counts.truncate(counts_after);
        if !taken? {
            return Err(Error::Invalid {
                what: "segment",
                offset: offset as u64,
                detail: "it does not fit the tables of its module, or its loops have no end".into(),
            });
        }
        self.expected = next(f, plan);
        Ok(())
    }
}

/// Loops of a plan whose counts are recorded.
fn recorded_counts(f: &FastFunction, plan: &Plan) -> usize {
    if plan.fixed_bytes.is_some() {
        return 0;
    }
    let recorded = |s: &&Step| matches!(s, Step::Loop { index, .. } if f.is_recorded(*index));
    plan.path.steps.iter().filter(recorded).count()
}
