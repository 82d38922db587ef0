//! Code on edges: which edges have code, where it stands, and what it is; and checks for room in
//! the buffer, with what happens where there is none.

use std::collections::HashMap;

use contech_trace::abi::ID_BYTES;
use inkwell::values::{InstructionOpcode, InstructionValue, IntValue, PointerValue};

use super::super::Fast;
use super::super::paths::{Out, Sum, To};
use super::{Built, COUNT_BYTES, Emitter};
use crate::ir;
use crate::plan::FunctionPlan;

/// An edge with code on it: its source node and the node it leads to.
pub(super) type EdgeKey = (usize, usize);

/// Makes a place for the code of every edge that needs some: the code goes before the returned
/// instruction.
pub(super) fn split_edges<'m>(
    plan: &FunctionPlan<'m>,
    fast: &Fast,
) -> Result<HashMap<EdgeKey, InstructionValue<'m>>, String> {
    let mut places = HashMap::new();
    for key in busy_edges(fast) {
        let (from, to) = (&plan.pieces[key.0], &plan.pieces[key.1]);
        if places.contains_key(&key) {
            continue;
        }
        let place = if fast.graph.nodes[key.0].successors.len() > 1 {
            let ends = from.last.get_parent().zip(to.start.get_parent());
            ends.and_then(|(from, to)| ir::split_edge(from, to)?.get_terminator())
                .ok_or("cannot put a block on an edge")?
        } else {
            from.last
        };
        places.insert(key, place);
    }
    Ok(places)
}

fn busy_edges(fast: &Fast) -> Vec<EdgeKey> {
    let sums = &fast.paths.sums;
    let mut busy = Vec::new();
    for (n, edges) in fast.paths.edges.iter().enumerate() {
        let counted = fast.recorded_loop_at(n).is_some();
        for e in edges {
            let moves = e.increment != 0 || sums[n] != Sum::Varies;
            match e.to {
                To::Cut(t) | To::Leave(t) => busy.push((e.from, t)),
                To::Node(t) if counted || sums[t] == Sum::Varies && moves => {
                    busy.push((e.from, t));
                }
                _ => {}
            }
        }
    }
    for (l, shape) in fast.shapes.iter().enumerate() {
        if let Ok(c) = shape
            && c.count.is_none()
        {
            busy.push((c.latch, fast.graph.loops[l].header));
        }
    }
    busy
}

impl Fast {
    /// The outermost collapsed loop whose header is the node, if its count is recorded.
    pub(super) fn recorded_loop_at(&self, node: usize) -> Option<usize> {
        let l = self.graph.header_of[node]?;
        let c = self.shapes[l].as_ref().ok()?;
        c.count.is_none().then_some(l)
    }
}

/// The slow path of a check on the back edge of a recorded loop writes the count and the id, too,
/// and starts counting anew.
#[derive(Clone, Copy)]
pub(super) struct LoopCut<'m> {
    counter: PointerValue<'m>,
    increment: u64,
    resume: PointerValue<'m>,
}

impl<'m> Emitter<'_, 'm> {
    /// Emits the code of an edge, or of the end of a segment.
    pub(super) fn edge(&mut self, n: usize, e: &Out) -> Built {
        let t = match e.to {
            To::Node(t) | To::Cut(t) | To::Leave(t) => t,
            To::LoopCut(_) => return Ok(()),
            To::End => {
                let piece = &self.plan.pieces[n];
                self.writer.builder.position_before(&piece.last);
                self.id(n, e.increment)?;
                if self.fast.checks.behind.contains(&n) {
                    self.writer.check()?;
                }
                let leaves = self.fast.graph.nodes[n].ends;
                if leaves && piece.last.get_opcode() != InstructionOpcode::IndirectBr {
                    self.writer.sync(piece.last, piece.left_in(self.carried))?;
                }
                return Ok(());
            }
        };
        let Some(place) = self.ends.get(&(e.from, t)) else {
            return Ok(());
        };
        self.writer.builder.position_before(place);
        self.count(n)?;
        if !matches!(e.to, To::Node(_)) {
            self.id(n, e.increment)?;
        } else if self.fast.paths.sums[t] == Sum::Varies {
            let path = self.path_plus(n, e.increment)?;
            self.writer.builder.build_store(self.path, path)?;
        }
        if matches!(e.to, To::Cut(_)) {
            if self.fast.checks.edges.contains(&(n, t)) {
                self.writer.check()?;
            }
            self.set_path(t)?;
        }
        Ok(())
    }

    /// Writes the count of a recorded loop, on the edge that leaves it.
    fn count(&self, n: usize) -> Built {
        let Some(counter) = self.fast.recorded_loop_at(n).and_then(|l| self.counters.get(&l))
        else {
            return Ok(());
        };
        self.writer.append(self.load_count(*counter)?, COUNT_BYTES)
    }

    /// Emits the code on the back edge of a recorded loop.
    pub(super) fn back_edge(&mut self, n: usize, l: usize) -> Built {
        let fast = self.fast;
        let (Ok(c), Some(&counter)) = (&fast.shapes[l], self.counters.get(&l)) else {
            return Ok(());
        };
        self.writer.builder.position_before(&self.ends[&(c.latch, n)]);
        let one = self.writer.context.i64_type().const_int(1, false);
        let next = self.writer.builder.build_int_add(self.load_count(counter)?, one, "")?;
        self.writer.builder.build_store(counter, next)?;
        if !c.records {
            return Ok(());
        }
        let cut = fast.paths.edges[n].iter().find(|e| matches!(e.to, To::LoopCut(_)));
        let (Some(cut), Some(base)) = (cut, fast.paths.base(n, Some(l))) else {
            return Ok(());
        };
        let (increment, resume) = (u64::from(cut.increment), self.path_address(base));
        // The slow path is added when all code is in place.
        self.cuts.push((self.writer.is_full()?, LoopCut { counter, increment, resume }));
        Ok(())
    }

    pub(super) fn finish_cuts(&mut self) -> Built {
        for (condition, LoopCut { counter, increment, resume }) in std::mem::take(&mut self.cuts) {
            let end = ir::split_unlikely(condition);
            self.writer.builder.position_before(&end);
            let cursor = self.writer.load_cursor()?;
            self.writer.put(cursor, 0, self.load_count(counter)?)?;
            let path = self.writer.load(self.path)?;
            let id = ir::offset(&self.writer.builder, path, increment)?;
            self.writer.put(cursor, COUNT_BYTES, id)?;
            let bytes = COUNT_BYTES + ID_BYTES as u64;
            self.writer.flush(ir::offset(&self.writer.builder, cursor, bytes)?)?;
            let zero = self.writer.context.i64_type().const_zero();
            self.writer.builder.build_store(counter, zero)?;
            self.writer.builder.build_store(self.path, resume)?;
        }
        Ok(())
    }

    fn load_count(&self, counter: PointerValue<'m>) -> Built<IntValue<'m>> {
        let count = self.writer.builder.build_load(self.writer.context.i64_type(), counter, "")?;
        Ok(count.into_int_value())
    }
}
