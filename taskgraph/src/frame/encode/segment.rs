//! Executions of paths: their leaves and trip counts are stored, what they execute is counted.

use contech_program::count;

use super::{Running, Segment};
use crate::frame::MAX_VALUES;
use crate::id::BlockId;
use crate::path::{
    CompiledFunction, CompiledLoop, CompiledNode, CompiledPath, NO_BLOCK, State, Step, Stored,
    Visit, Walked,
};
use crate::wire::{put_delta, put_varint};

impl Running {
    #[inline]
    pub(super) fn segment(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        segment: Segment<'_>,
    ) -> bool {
        let sizes = (segment.slots.len(), segment.iterations.len());
        if sizes != (f.slots, f.loops.len()) || segment.bytes.len() > MAX_VALUES {
            return false;
        }
        let mut state = State {
            slots: std::mem::take(segment.slots),
            iterations: std::mem::take(segment.iterations),
        };
        if !path.path.fresh && !self.known {
            self.put_state(path.path.function, &state);
        }
        self.known = true;
        let symbol = self.layout.blocks.len() + segment.path as usize;
        // Symbols fit: the predictor has an entry for each.
        self.put_symbol(
            u32::try_from(symbol).unwrap_or(u32::MAX),
            u64::from(segment.path) << 1 | 1,
        );
        if !std::mem::replace(&mut self.is_used[segment.path as usize], true) {
            self.paths.push(segment.path);
        }
        if path.simple {
            self.simple(path, f, segment.bytes, &mut state);
        } else {
            self.walk(path, f, segment.bytes, segment.counts, &mut state);
        }
        (*segment.slots, *segment.iterations) = (state.slots, state.iterations);
        true
    }

    /// A path without collapsed loops.
    fn simple(
        &mut self,
        path: &CompiledPath,
        f: &CompiledFunction,
        bytes: &[u8],
        state: &mut State,
    ) {
        let mut at = 0;
        if let (true, Some(counts)) = (path.still, path.counts) {
            for stored in &path.stored {
                if let Stored::Leaves(n) = *stored {
                    self.leaves(f, n, bytes, &mut at, state);
                }
            }
            self.counts = self.counts.plus(counts);
            return;
        }
        for step in &path.path.steps {
            match *step {
                Step::Node(n) => {
                    let node = &f.nodes[n as usize];
                    self.leaves(f, n, bytes, &mut at, state);
                    if path.counts.is_none() {
                        self.executed(node, state);
                    }
                }
                Step::Enter(l) => state.iterations[l as usize] = 0,
                Step::Next(l) => {
                    let i = &mut state.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Step::Loop { .. } => {}
            }
        }
        if let Some(counts) = path.counts {
            self.counts = self.counts.plus(counts);
        }
    }

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
                f,
                counts,
                at: &mut at,
            };
            match walk.next(f, path, state, &mut visit) {
                Walked::End => break,
                Walked::Run(_) => {}
                Walked::Node(n) => {
                    self.leaves(f, n, bytes, &mut at, state);
                    self.executed(&f.nodes[n as usize], state);
                }
            }
        }
        self.walk = walk;
    }

    /// Stores the leaves of a node.
    #[inline]
    fn leaves(
        &mut self,
        f: &CompiledFunction,
        n: u32,
        bytes: &[u8],
        at: &mut usize,
        state: &mut State,
    ) {
        let leaves = &f.nodes[n as usize].leaves;
        if leaves.is_empty() {
            return;
        }
        let slots = &mut state.slots;
        let values = leaves.iter().map(|leaf| {
            let v = read(bytes, *at, leaf.width);
            *at += usize::from(leaf.width);
            slots[leaf.slot as usize] = v;
            v
        });
        self.columns
            .put(&mut self.predictor, f.node_unit(n), leaves.len(), values);
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

/// Counts what a walk executes, and stores trip counts.
struct Counting<'e, 'a> {
    encoder: &'e mut Running,
    f: &'a CompiledFunction,
    counts: &'a mut Vec<u64>,
    at: &'a mut usize,
}

/// Bytes of a recorded trip count.
const COUNT_BYTES: usize = 6;

impl Visit for Counting<'_, '_> {
    fn count(&mut self, index: u32, l: &CompiledLoop, state: &State) -> u64 {
        let count = match &l.count {
            Some(count) => count.eval(&state.slots, &state.iterations),
            None => self.counts.pop().unwrap_or(0),
        };
        if l.stored {
            let e = &mut *self.encoder;
            let unit = self.f.loop_unit(index);
            e.columns
                .put(&mut e.predictor, unit, 1, std::iter::once(count));
        }
        count
    }

    fn run(&mut self, _: u32, l: &CompiledLoop, iterations: u64, _: &State) -> bool {
        let Some(counts) = l.flat.as_ref().and_then(|flat| flat.counts) else {
            return false;
        };
        let e = &mut *self.encoder;
        e.counts = e.counts.plus(counts.times(iterations));
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
