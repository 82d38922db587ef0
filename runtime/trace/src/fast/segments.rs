//! Gives a chunk's records out unexpanded: as segments with the bytes of their leaves, not as the
//! blocks they stand for.

use std::mem::take;
use std::ops::Range;

use super::decode::{Decoder, Known, Located, next, start};
use super::path::Plan;
use crate::abi::ID_BYTES;
use crate::event::{Event, NOWHERE, Recorded, raw};
use crate::program::{Meaning, Program};
use crate::{Error, Result};

/// No segment executes more nodes than this, and no event repeats more records, whatever they
/// claim. This many take many minutes, so tests and the fuzzer are content with fewer.
pub(super) const MOST_EXECUTIONS: u64 = if cfg!(any(test, fuzzing)) { 1 << 16 } else { 1 << 38 };

/// Bytes given out beyond a record, so that it can be copied in words.
const SLACK: usize = 32;

/// One recorded segment.
#[derive(Debug)]
pub struct Segment<'a> {
    /// Dense number of the segment's path.
    pub number: u32,
    /// What the segment executes.
    pub plan: &'a Plan,
    /// The segment's leaves and recorded counts, and a few bytes of what follows.
    pub bytes: &'a [u8],
    /// The segment goes on where something else interrupted its function.
    pub resumed: bool,
    /// The next record is a synchronisation.
    pub synchronises: bool,
    /// Recorded trip counts, the first one last.
    pub counts: &'a [u64],
    /// What is known before the segment.
    pub known: Known<'a>,
}

/// Takes records in program order.
pub trait Records {
    /// Takes one block execution in naive form, with the operands of its operations.
    fn block(&mut self, block: u32, operands: &[u64]);
    /// Takes one runtime event. With `inside`, a function goes on after the event with what is
    /// known now.
    fn event(&mut self, event: Event, inside: bool);
    /// Takes one segment. Returns false if the segment cannot be used.
    fn segment(&mut self, segment: Segment<'_>) -> bool;
    /// Takes the first of so many segments of one path without counts, each so many bytes after the
    /// one before, or several of them. Returns how many, and 0 if the first one cannot be used.
    fn segments(&mut self, first: Segment<'_>, _times: usize, _stride: usize) -> usize {
        usize::from(self.segment(first))
    }
}

fn is_sync(next: &Located) -> bool {
    [raw::Sync::ID, raw::Untimed::ID].contains(&next.id)
}

impl Decoder {
    /// Does the same as [`Decoder::chunk`], but does not expand segments.
    ///
    /// # Errors
    /// The same as those of [`Decoder::chunk`].
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
        let outcome = self.give_out(payload, program, sink);
        if self.expected.is_some() {
            self.follower.catch_up(payload, program);
        } else {
            self.follower.forget();
        }
        parsed.and(outcome)
    }

    /// Gives out the records that were found.
    fn give_out(
        &mut self,
        payload: &[u8],
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let mut outcome = Ok(());
        while let Some(found) = self.records.pop() {
            let end = self.records.last().map_or(payload.len(), |r| r.offset());
            let done = match program.met(found.number) {
                Some(plan) => {
                    let end = payload.len().min(end + SLACK);
                    self.alike(payload, (found, end), plan, program, sink)
                }
                None => {
                    let fields = found.offset()..end - ID_BYTES;
                    self.record(payload, fields, found.id, program, sink)
                }
            };
            if let Err(e) = done {
                self.forget();
                outcome = Err(e);
            }
        }
        outcome
    }

    /// Gives out once more, `count` times, the records of the last `bytes` before the event at
    /// `offset`.
    #[cold]
    fn again(
        &mut self,
        payload: &[u8],
        offset: usize,
        (bytes, count): (u32, u64),
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let bad = |detail: &str| Error::Invalid {
            what: "repetition",
            offset: offset as u64,
            detail: detail.into(),
        };
        let from = offset.checked_sub(bytes as usize);
        let turn = &payload[from.ok_or_else(|| bad("of more than there is"))?..offset];
        let rest = (take(&mut self.records), take(&mut self.counts));
        let outcome = self.parse(turn, program).and_then(|()| {
            let (records, counts) = (take(&mut self.records), take(&mut self.counts));
            if records.iter().any(|r| r.id == raw::Again::ID) {
                return Err(bad("of a repetition"));
            }
            if records.is_empty() {
                return Err(bad("of nothing"));
            }
            let all: u64 = records.iter().map(|found| u64::from(found.times)).sum();
            if count.saturating_mul(all) > MOST_EXECUTIONS {
                return Err(bad("too many times"));
            }
            (0..count).try_for_each(|_| {
                if self.expected.is_some() {
                    return Err(bad("within a function"));
                }
                self.records.extend_from_slice(&records);
                self.counts.extend_from_slice(&counts);
                self.give_out(turn, program, sink)
            })
        });
        (self.records, self.counts) = rest;
        outcome
    }

    #[inline]
    fn record(
        &mut self,
        payload: &[u8],
        fields: Range<usize>,
        id: u32,
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let (at, fields) = (fields.start, &payload[fields]);
        match program.meaning(id) {
            Some(Meaning::Block { .. }) if self.is_off() => {}
            Some(Meaning::Block { block, .. }) => {
                self.suspend(payload, program);
                self.operands.clear();
                crate::stream::operands(fields, 0, program.ops(block), &mut self.operands);
                sink.block(block, &self.operands);
            }
            Some(Meaning::Event { .. }) => match Event::decode(id, fields)? {
                Event::Again { .. } if self.is_off() => {}
                Event::Again { bytes, count } => {
                    self.again(payload, at, (bytes, count), program, sink)?;
                }
                event => {
                    match event {
                        Event::Accesses { recorded, .. } => self.switch(recorded == Recorded::Yes),
                        Event::Switch { context, .. } => self.nowhere = context == NOWHERE,
                        _ => {}
                    }
                    sink.event(event, self.expected.is_some());
                }
            },
            // Paths were handled when the chunk was parsed.
            Some(Meaning::Path { .. }) | None => {}
        }
        Ok(())
    }

    /// Gives out segments that are alike.
    #[inline]
    fn alike(
        &mut self,
        payload: &[u8],
        (found, end): (Located, usize),
        plan: &Plan,
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<()> {
        let (mut offset, mut left, mut stride) = (found.offset(), found.times as usize, 0);
        if left > 1 {
            stride = plan.fixed_bytes().unwrap_or(0) + ID_BYTES;
        }
        while left > 0 {
            let place = (offset, end);
            let path = (found.number, plan);
            let taken = self.segment(payload, place, path, (left, stride), program, sink)?;
            offset += taken * stride;
            left -= taken;
        }
        Ok(())
    }

    /// Gives out the first of `left` segments that are `stride` bytes apart, or several. Returns
    /// how many, at least one.
    #[inline]
    fn segment(
        &mut self,
        payload: &[u8],
        (offset, end): (usize, usize),
        (number, plan): (u32, &Plan),
        (left, stride): (usize, usize),
        program: &Program,
        sink: &mut impl Records,
    ) -> Result<usize> {
        let f = program.function(plan.path.function);
        let recorded = plan.counts();
        let counts_after = self.counts.len().saturating_sub(recorded);
        let begun = match self.begin(plan, offset, payload, program) {
            Ok(None) => {
                self.counts.truncate(counts_after);
                return Ok(1);
            }
            Ok(Some(resumed)) => Ok(resumed),
            Err(e) => Err(e),
        };
        let follows = next(f, plan);
        // Whether what follows goes on where this one did, or begins anew.
        let repeats = || match follows {
            Some(follows) => !plan.path.fresh && follows == start(plan),
            None => plan.path.fresh,
        };
        let taken = begun.map(|resumed| {
            let first = Segment {
                number,
                plan,
                bytes: &payload[offset..end],
                resumed,
                synchronises: left == 1 && self.records.last().is_some_and(is_sync),
                counts: &self.counts[counts_after..],
                known: Known { follower: &mut self.follower, payload, program },
            };
            match left > 1 && !resumed && repeats() {
                true => sink.segments(first, left, stride).min(left),
                false => usize::from(sink.segment(first)),
            }
        });
        let counts = &self.counts[counts_after..];
        match follows {
            Some(_) => {
                let times = *taken.as_ref().unwrap_or(&1);
                self.follower.went_on(number, (offset, stride, times), counts);
            }
            None => self.follower.forget(),
        }
        self.counts.truncate(counts_after);
        let taken = taken?;
        if taken == 0 {
            return Err(Error::Invalid {
                what: "segment",
                offset: offset as u64,
                detail: "it does not fit the tables of its module, or its loops have no end or leave the addresses".into(),
            });
        }
        self.expected = follows;
        Ok(taken)
    }
}
