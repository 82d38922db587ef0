//! Executions of paths: their bytes go to the table of the path unchanged, and what they execute is
//! counted.

use super::table::Table;
use super::{Running, Segment};
use crate::frame::{Counts, MAX_VALUES};
use crate::id::BlockId;
use crate::path::{CompiledFunction, CompiledPath, Followed, MOST_WRAPPING, Nest, Recorded, State};
use contech_program::count;

impl Running {
    #[inline]
    pub(super) fn segment<'s>(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        segment: Segment<'_>,
        known: impl FnOnce() -> &'s mut State,
    ) -> bool {
        if segment.bytes.len() > MAX_VALUES {
            return false;
        }
        let symbol = self.layout.blocks.len() + segment.path as usize;
        let begins = self.known || path.path.fresh;
        let far = segment.counts.iter().any(|n| *n >= MOST_WRAPPING);
        let static_counts = path.counts.filter(|_| begins && !path.evaluates && !far);
        let state = match static_counts {
            Some(_) => None,
            None => Some(known()),
        };
        let goes_on = |state: &State| path.path.fresh || state.fits(f);
        if !state.as_deref().is_none_or(goes_on) {
            return false;
        }
        let counts = match (static_counts, state) {
            (Some(counts), _) => {
                let loops = path.each.iter().zip(segment.counts.iter().rev());
                Some(loops.fold(counts, |sum, (each, n)| sum.plus(each.times(*n))))
            }
            (None, Some(state)) => {
                self.resumed.clear();
                if !begins {
                    self.resumed.extend_from_slice(&state.slots);
                    self.resumed.extend_from_slice(&state.iterations);
                }
                self.followed(path, f, &segment, state)
            }
            (None, None) => None,
        };
        let made = || Table::of_path(path, f);
        let table = counts.and_then(|_| self.tables.get_mut_or_init(symbol, made));
        let put = table.and_then(|t| Some((t.local, t.put(segment.bytes, segment.counts)?)));
        let (Some(counts), Some((local, values))) = (counts, put) else {
            return false;
        };
        if !begins {
            self.resumes.put(self.ids.len(), path.path.function, &self.resumed);
        }
        self.values += values;
        self.counts = self.counts.plus(counts);
        self.known = true;
        // The symbol fits, because there is a table for each.
        self.recorded(u32::try_from(symbol).unwrap_or(u32::MAX), local);
        true
    }

    /// Appends more executions of the path that was executed last, recorded one `stride` after the
    /// other, until the frame is full. Returns how many; none if something must be known for them.
    pub(super) fn repeat(
        &mut self,
        path: &CompiledPath,
        number: u32,
        (bytes, left): (&[u8], usize),
        stride: usize,
    ) -> usize {
        let Some(counts) = path.counts.filter(|_| !path.evaluates) else {
            return 0;
        };
        let symbol = self.layout.blocks.len() + number as usize;
        let (most, records, values) = (self.size.values(), self.ids.len(), self.values);
        let Some(table) = self.tables.get_mut(symbol) else {
            return 0;
        };
        let (Some(local), Some(each)) = (table.local, table.plain()) else {
            return 0;
        };
        // As many as until `FrameEncoder::is_full`.
        let mut times = left.min(most.div_ceil(2).saturating_sub(records));
        if each > 0 {
            times = times.min(most.saturating_sub(values).div_ceil(each));
        }
        for at in 0..times {
            let bytes = bytes.get(at * stride..).unwrap_or(&[]);
            table.put_plain(bytes);
        }
        self.values += each * times;
        self.counts = self.counts.plus(counts.times(times as u64));
        self.ids.resize(records + times, local);
        times
    }

    /// Counts what a segment executes. Returns `None` if a loop has more iterations than its
    /// addresses have room for.
    fn followed(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        segment: &Segment<'_>,
        state: &mut State,
    ) -> Option<Counts> {
        if path.path.fresh {
            state.begin(f);
        }
        let recorded = Recorded::new(segment.bytes, segment.counts);
        let mut counts = path.counts.unwrap_or_default();
        let (info, layout, operands) = (&self.info, &self.layout, &mut self.operands);
        let visit = |what: Followed<'_, '_>, state: &State| {
            let own = match what {
                Followed::Iterations(l, n) => l.each.unwrap_or_default().times(n),
                Followed::Nest(shape, counts, cut) => {
                    let mut sum = Counts::default();
                    Nest::new(info, shape, counts, cut).for_each_times(|block, times| {
                        // The sizes of a nest's accesses are known.
                        let each = layout.blocks[block.index()].counts.unwrap_or_default();
                        sum = sum.plus(each.times(times));
                    });
                    sum
                }
                Followed::Node(node) => node.counts.unwrap_or_else(|| {
                    let (slots, iterations) = (&state.slots, &state.iterations);
                    operands.clear();
                    operands.extend(node.operands.iter().map(|v| v.eval(slots, iterations)));
                    count(info, BlockId::new(node.block), operands)
                }),
            };
            counts = counts.plus(own);
        };
        let stay = state.follow(path, f, recorded, &mut self.walk, visit);
        stay.then_some(counts)
    }
}
