//! Executes a segment with collapsed loops.

use super::{COUNT_BYTES, Decoder, Sink, read};
use crate::fast::compiled::{Affine, Compiled};
use crate::fast::expr::Environment;
use crate::fast::path::Item;
use crate::fast::table::{Count, Loop, LoopStep};

/// Execution of one segment.
pub(super) struct Run<'a, 'd> {
    pub(super) payload: &'a [u8],
    pub(super) pos: usize,
    pub(super) f: &'a Compiled,
    pub(super) decoder: &'d mut Decoder,
    /// Nodes that may still be executed; at 0 loops end.
    pub(super) left: u64,
}

impl Run<'_, '_> {
    pub(super) fn items(&mut self, items: &[Item], sink: &mut impl Sink) {
        for item in items {
            match *item {
                Item::Node(n) => self.node(n, sink),
                Item::Loop {
                    index,
                    cut,
                    resumed,
                } => self.collapsed(index, cut, resumed, sink),
                Item::Step(LoopStep::Enter(l)) => self.decoder.iterations[l as usize] = 0,
                Item::Step(LoopStep::Next(l)) => {
                    let i = &mut self.decoder.iterations[l as usize];
                    *i = i.wrapping_add(1);
                }
                Item::Step(LoopStep::None) => {}
            }
        }
    }

    fn collapsed(&mut self, index: u32, cut: bool, resumed: bool, sink: &mut impl Sink) {
        let f = self.f;
        let l = index as usize;
        let Loop::Collapsed {
            body, last, count, ..
        } = &f.table.loops[l]
        else {
            return;
        };
        let recorded = matches!(count, Count::Recorded);
        let count = match &f.counts[l] {
            Some(value) => value.eval(&self.environment()),
            None => self.decoder.counts.pop().unwrap_or(0),
        };
        let base = if resumed {
            self.decoder.iterations[l].wrapping_add(1)
        } else {
            0
        };
        self.decoder.iterations[l] = base;
        let whole = if cut { count } else { count.saturating_add(1) };
        if !self.affine(index, whole, sink) {
            for i in 0..count {
                if self.left == 0 {
                    break;
                }
                self.decoder.iterations[l] = base.wrapping_add(i);
                self.body(body, sink);
            }
            if !cut {
                self.decoder.iterations[l] = base.wrapping_add(count);
                self.body(&body[..*last as usize], sink);
            }
        }
        // After a cut the next segment's first iteration follows the last one run here.
        let ended = base.wrapping_add(count);
        self.decoder.iterations[l] = if cut { ended.wrapping_sub(1) } else { ended };
        if recorded {
            self.pos += COUNT_BYTES;
        }
    }

    /// Hands `iterations` of a flat loop on as one run; false when it is none, short, or an operand
    /// would wrap.
    fn affine(&mut self, index: u32, iterations: u64, sink: &mut impl Sink) -> bool {
        let f = self.f;
        let Some(flat) = &f.flat[index as usize] else {
            return false;
        };
        if iterations < AFFINE_MIN {
            return false;
        }
        let executions = iterations.saturating_mul(flat.blocks.len().max(1) as u64);
        self.left = self.left.saturating_sub(executions);
        if self.left == 0 {
            return true;
        }
        let mut starts = std::mem::take(&mut self.decoder.starts);
        starts.clear();
        let env = self.environment();
        let mut fits = true;
        for ((node, k), stride) in flat.operands.iter().zip(&flat.strides) {
            let value = &f.operands[*node as usize][*k as usize];
            let start = value.eval(&env);
            let end =
                i128::from(start) + i128::from(stride.cast_signed()) * i128::from(iterations - 1);
            fits &= (0..=i128::from(value.mask())).contains(&end);
            starts.push(start);
        }
        if fits {
            let run = Affine {
                blocks: &flat.blocks,
                starts: &starts,
                strides: &flat.strides,
                iterations,
            };
            sink.affine(&run, &mut self.decoder.operands);
        }
        self.decoder.starts = starts;
        fits
    }

    fn body(&mut self, nodes: &[u32], sink: &mut impl Sink) {
        for (i, n) in nodes.iter().enumerate() {
            // The loop's own header is a node here; another collapsed header stands for its loop.
            match (i, self.f.collapsed[*n as usize]) {
                (0, _) | (_, None) => self.node(*n, sink),
                (_, Some(inner)) => self.collapsed(inner, false, false, sink),
            }
        }
    }

    fn node(&mut self, n: u32, sink: &mut impl Sink) {
        let f = self.f;
        let node = &f.table.nodes[n as usize];
        for leaf in &node.leaves {
            self.decoder.slots[leaf.slot as usize] = read(self.payload, self.pos, leaf.width);
            self.pos += usize::from(leaf.width);
        }
        self.left = self.left.saturating_sub(1);
        let Some(block) = node.block.filter(|_| self.left > 0) else {
            return;
        };
        let mut operands = std::mem::take(&mut self.decoder.operands);
        operands.clear();
        let env = self.environment();
        operands.extend(f.operands[n as usize].iter().map(|v| v.eval(&env)));
        sink.block(f.first_block + block, &operands);
        self.decoder.operands = operands;
    }

    fn environment(&self) -> Environment<'_> {
        Environment {
            slots: &self.decoder.slots,
            iterations: &self.decoder.iterations,
            globals: &[], // folded into constants
        }
    }
}

/// Fewer iterations than this are given as blocks at once.
const AFFINE_MIN: u64 = 4;
