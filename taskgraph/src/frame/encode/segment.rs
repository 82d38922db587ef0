//! Executions of paths: their bytes go to the table of the path as they are. What they execute is counted, and what is known
//! after them is found where that is asked for.

use super::table::Table;
use super::takes::COUNT_BYTES;
use super::{Running, Segment};
use crate::frame::MAX_VALUES;
use crate::id::BlockId;
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, NO_BLOCK, State, Step, Visit,
    Walked,
};
use crate::wire::{put_delta, put_varint};
use contech_program::{Counts, count};

impl Running {
    #[inline]
    pub(super) fn segment(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        segment: Segment<'_>,
    ) -> bool {
        if segment.bytes.len() > MAX_VALUES {
            return false;
        }
        let symbol = self.layout.blocks.len() + segment.path as usize;
        let Some(table) = self.tables.get_mut(symbol) else {
            return false;
        };
        let table = table.get_or_insert_with(|| Box::new(Table::of_path(path, f)));
        let known = self.known || path.path.fresh;
        // Symbols fit: there is a table for each.
        let name = u32::try_from(symbol).unwrap_or(u32::MAX);
        if let (Some(counts), false, false, true) =
            (path.counts, path.evaluates, segment.goes_on, known)
        {
            let (mut sum, mut each) = (counts, path.each.iter());
            let trips = || {
                let n = segment.counts.pop().unwrap_or(0);
                if let Some(each) = each.next() {
                    sum = sum.plus(each.times(n));
                }
                n
            };
            let Some(values) = table.put(segment.bytes, trips) else {
                return false;
            };
            self.values += values;
            self.counts = self.counts.plus(sum);
            self.known = true;
            let local = table.local;
            self.recorded(name, local);
            return true;
        }
        self.followed(path, f, segment, name)
    }

    /// A segment whose slots and iteration numbers are looked at.
    fn followed(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        segment: Segment<'_>,
        symbol: u32,
    ) -> bool {
        let sizes = (segment.slots.len(), segment.iterations.len());
        let used = segment.goes_on || !path.path.fresh;
        if used && sizes != (f.slots, f.loops.len()) {
            return false;
        }
        let mut state = State {
            slots: std::mem::take(segment.slots),
            iterations: std::mem::take(segment.iterations),
        };
        if path.path.fresh {
            state.begin(f);
        }
        let (before, known) = (self.counts, self.known);
        if !path.path.fresh && !known {
            self.put_state(path.path.function, &state);
        }
        self.trips.clear();
        match path.counts {
            Some(counts) => {
                self.counts = self.counts.plus(counts);
                self.steps(path, f, segment.bytes, segment.counts, &mut state);
            }
            None => self.walk(path, f, segment.bytes, segment.counts, &mut state),
        }
        (*segment.slots, *segment.iterations) = (state.slots, state.iterations);
        let mut trips = self.trips.iter();
        let table = self.tables[symbol as usize].as_mut();
        let put = table.and_then(|table| {
            let trips = || trips.next().copied().unwrap_or(0);
            Some((table.put(segment.bytes, trips)?, table.local))
        });
        let Some((values, local)) = put else {
            self.counts = before;
            if !known {
                self.initial.clear();
            }
            return false;
        };
        self.values += values;
        self.known = true;
        self.recorded(symbol, local);
        true
    }

    /// A path that counts the same but for the iterations of its loops, none of which is in another.
    fn steps(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        bytes: &[u8],
        counts: &mut Vec<u64>,
        state: &mut State,
    ) {
        let mut at = 0;
        for step in &path.path.steps {
            match *step {
                Step::Node(n) => leaves(&f.nodes[n as usize], bytes, &mut at, state),
                Step::Enter(l) => state.iterations[l as usize] = 0,
                Step::Next(l) => {
                    let i = &mut state.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Step::Loop {
                    index,
                    cut,
                    resumed,
                } => {
                    let i = index as usize;
                    let Some(l) = &f.loops[i] else { continue };
                    let n = self.trips(l, counts, state);
                    let base = if resumed {
                        state.iterations[i].wrapping_add(1)
                    } else {
                        0
                    };
                    self.counts = self.counts.plus(l.each.unwrap_or_default().times(n));
                    let each = l.leafy.iter().flat_map(|n| &f.nodes[*n as usize].leaves);
                    let each: usize = each.map(|l| usize::from(l.width)).sum();
                    // Only what the last iterations store is still known after them.
                    let skipped = n.saturating_sub(1);
                    at = usize::try_from(skipped)
                        .ok()
                        .and_then(|n| n.checked_mul(each)?.checked_add(at))
                        .unwrap_or(usize::MAX)
                        .min(bytes.len());
                    if n > 0 {
                        for n in &l.leafy {
                            leaves(&f.nodes[*n as usize], bytes, &mut at, state);
                        }
                    }
                    if !cut {
                        for n in &l.leafy[..l.leafy_last] {
                            leaves(&f.nodes[*n as usize], bytes, &mut at, state);
                        }
                    }
                    if l.count.is_none() {
                        at += COUNT_BYTES;
                    }
                    let ended = base.wrapping_add(n);
                    state.iterations[i] = if cut { ended.wrapping_sub(1) } else { ended };
                }
            }
        }
    }

    /// A path that has to be executed to know what it counts.
    fn walk(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        bytes: &[u8],
        counts: &mut Vec<u64>,
        state: &mut State,
    ) {
        let mut walk = std::mem::take(&mut self.walk);
        walk.restart();
        let mut at = 0;
        loop {
            let mut visit = Counting {
                encoder: self,
                counts,
                at: &mut at,
            };
            match walk.next(f, path, state, &mut visit) {
                Walked::End => break,
                Walked::Run(_) | Walked::Nest(..) => {}
                Walked::Node(n) => {
                    let node = &f.nodes[n as usize];
                    leaves(node, bytes, &mut at, state);
                    self.executed(node, state);
                }
            }
        }
        self.walk = walk;
    }

    /// Counts an execution of a node.
    #[inline]
    fn executed(&mut self, node: &CompiledNode, state: &State) {
        match node.counts {
            Some(counts) => self.counts = self.counts.plus(counts),
            None if node.block != NO_BLOCK => {
                let (slots, iterations) = (&state.slots, &state.iterations);
                self.operands.clear();
                let values = node.operands.iter().map(|v| v.eval(slots, iterations));
                self.operands.extend(values);
                let counts = count(&self.info, BlockId::new(node.block), &self.operands);
                self.counts = self.counts.plus(counts);
            }
            None => {}
        }
    }

    /// The count of a loop.
    fn trips(&mut self, l: &CompiledLoop, counts: &mut Vec<u64>, state: &State) -> u64 {
        let n = match &l.count {
            Some(count) => count.eval(&state.slots, &state.iterations),
            None => counts.pop().unwrap_or(0),
        };
        if l.stored {
            self.trips.push(n);
        }
        n
    }

    #[cold]
    fn put_state(&mut self, function: u32, state: &State) {
        put_varint(&mut self.initial, u64::from(function));
        let mut last = 0;
        for &v in state.slots.iter().chain(&state.iterations) {
            put_delta(&mut self.initial, v, last);
            last = v;
        }
    }
}

/// Learns the leaves of a node.
#[inline]
fn leaves(node: &CompiledNode, bytes: &[u8], at: &mut usize, state: &mut State) {
    for leaf in &node.leaves {
        state.slots[leaf.slot as usize] = read(bytes, *at, leaf.width);
        *at += usize::from(leaf.width);
    }
}

/// Counts what a walk executes, and notes trip counts.
struct Counting<'e> {
    encoder: &'e mut Running,
    counts: &'e mut Vec<u64>,
    at: &'e mut usize,
}

impl Visit for Counting<'_> {
    fn count(&mut self, _: u32, l: &CompiledLoop, state: &State) -> u64 {
        self.encoder.trips(l, self.counts, state)
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, _: &State) -> bool {
        let Some(counts) = l.flat.as_ref().and_then(|flat| flat.counts) else {
            return false;
        };
        self.encoder.counts = self.encoder.counts.plus(Counts::times(counts, iterations));
        self.ended(l);
        true
    }

    fn ended(&mut self, l: &CompiledLoop) {
        if l.count.is_none() {
            *self.at += COUNT_BYTES;
        }
    }
}

/// A little-endian value of 1, 2, 4, 6 or 8 bytes; what lies outside the bytes reads as 0.
#[inline]
fn read(bytes: &[u8], at: usize, width: u8) -> u64 {
    let unused = 64 - 8 * u32::from(width.clamp(1, 8));
    if let Some(word) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
        return u64::from_le_bytes(*word) << unused >> unused;
    }
    let mut word = [0; 8];
    let have = bytes.get(at..).unwrap_or_default();
    for (to, from) in word.iter_mut().zip(have).take(usize::from(width)) {
        *to = *from;
    }
    u64::from_le_bytes(word)
}
