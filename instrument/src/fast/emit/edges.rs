//! Code on edges: which edges have code, where it stands, and what it is.

use std::collections::HashMap;

use inkwell::values::{InstructionOpcode, InstructionValue};

use super::super::Fast;
use super::super::paths::{Out, Sum, To};
use super::super::scev;
use super::checks::Slow;
use super::{Built, COUNT_BYTES, Emitter};

/// An edge with code on it: its source node and the node it leads to.
pub(super) type EdgeKey = (usize, usize);

/// Makes a place for the code of every edge that needs some: the code goes before the returned
/// instruction.
pub(super) fn split_edges<'m>(
    fast: &Fast<'m>,
) -> Result<HashMap<EdgeKey, InstructionValue<'m>>, String> {
    let mut places = HashMap::new();
    for key in busy_edges(fast) {
        let (from, to) = (&fast.graph.nodes[key.0], &fast.graph.nodes[key.1]);
        if places.contains_key(&key) {
            continue;
        }
        let place = if fast.graph.nodes[key.0].successors.len() > 1 {
            scev::split_edge(from.bb, to.bb)
                .and_then(|b| b.get_terminator())
                .ok_or("cannot put a block on an edge")?
        } else {
            from.last
        };
        places.insert(key, place);
    }
    Ok(places)
}

fn busy_edges(fast: &Fast<'_>) -> Vec<EdgeKey> {
    let mut busy = Vec::new();
    for (n, edges) in fast.paths.edges.iter().enumerate() {
        for e in edges {
            if let Some(to) = fast.real_target(n, e)
                && fast.edge_has_code(n, e)
            {
                busy.push((e.from, to));
            }
        }
    }
    for (l, shape) in fast.shapes.iter().enumerate() {
        if let Some(c) = shape.collapsed()
            && c.count.is_none()
        {
            busy.push((c.latch, fast.graph.headers[l]));
        }
    }
    busy
}

impl Fast<'_> {
    /// The node that the edge leads to in the function; `None` for edges that end without a target.
    fn real_target(&self, node: usize, e: &Out) -> Option<usize> {
        match e.to {
            To::Node(t) | To::Cut(t) | To::Leave(t) => Some(t),
            To::LoopCut(_) => Some(node),
            To::End => None,
        }
    }

    fn edge_has_code(&self, node: usize, e: &Out) -> bool {
        let counted = self.recorded_loop_at(node).is_some();
        match e.to {
            To::Cut(_) | To::Leave(_) => true,
            To::Node(t) => {
                counted
                    || self.paths.sums[t] == Sum::Varies
                        && (e.increment != 0 || self.paths.sums[node] != Sum::Varies)
            }
            To::End | To::LoopCut(_) => false,
        }
    }

    /// The outermost collapsed loop whose header is the node, if its count is recorded.
    pub(super) fn recorded_loop_at(&self, node: usize) -> Option<usize> {
        let l = self.graph.header_of[node]?;
        let c = self.shapes[l].collapsed()?;
        c.count.is_none().then_some(l)
    }
}

impl<'m> Emitter<'_, 'm> {
    /// Emits the code of an edge, or of the end of a segment.
    pub(super) fn edge(&mut self, n: usize, e: &Out) -> Built {
        let fast = self.fast;
        match e.to {
            To::End => {
                self.builder.position_before(&fast.graph.nodes[n].last);
                self.id(n, e.increment)?;
                if fast.graph.nodes[n].last.get_opcode() == InstructionOpcode::IndirectBr {
                    return Ok(());
                }
                self.sync(n)
            }
            To::Leave(t) => {
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                self.id(n, e.increment)
            }
            To::LoopCut(_) => Ok(()),
            To::Node(t) => {
                if !fast.edge_has_code(n, e) {
                    return Ok(());
                }
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                if fast.paths.sums[t] == Sum::Varies {
                    let path = self.path_plus(n, e.increment)?;
                    self.builder.build_store(self.path, path)?;
                }
                Ok(())
            }
            To::Cut(t) => {
                self.builder.position_before(&self.ends[&(e.from, t)]);
                self.count(n)?;
                self.id(n, e.increment)?;
                if fast.checked.contains(&(n, t)) {
                    self.check()?;
                }
                self.set_path(t, None)
            }
        }
    }

    /// Writes the count of a recorded loop, on the edge that leaves it.
    fn count(&self, n: usize) -> Built {
        let Some(counter) = self.fast.recorded_loop_at(n).and_then(|l| self.counters.get(&l))
        else {
            return Ok(());
        };
        let count = self.builder.build_load(self.context.i64_type(), *counter, "")?;
        let base = self.load_cursor()?;
        self.put(base, 0, count)?;
        let next = self.offset(base, COUNT_BYTES)?;
        self.builder.build_store(self.cursor, next)?;
        Ok(())
    }

    /// Emits the code on the back edge of a recorded loop.
    pub(super) fn back_edge(&mut self, n: usize, l: usize) -> Built {
        let fast = self.fast;
        let (Some(c), Some(counter)) = (fast.shapes[l].collapsed(), self.counters.get(&l)) else {
            return Ok(());
        };
        let counter = *counter;
        self.builder.position_before(&self.ends[&(c.latch, n)]);
        let i64_type = self.context.i64_type();
        let count = self.builder.build_load(i64_type, counter, "")?;
        let one = i64_type.const_int(1, false);
        let next = self.builder.build_int_add(count.into_int_value(), one, "")?;
        self.builder.build_store(counter, next)?;
        if !c.records {
            return Ok(());
        }
        let cut = fast.paths.edges[n].iter().find(|e| matches!(e.to, To::LoopCut(_)));
        let (Some(cut), Some(base)) = (cut, fast.paths.base(n, Some(l))) else {
            return Ok(());
        };
        let slow = Slow::LoopCut {
            counter,
            increment: u64::from(cut.increment),
            resume: self.path_address(base),
        };
        self.compare(slow)
    }
}
