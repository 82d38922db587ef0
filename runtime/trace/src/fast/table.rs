//! The static description of one function in fast form, and its encoding inside the module table.

use super::expr::Expr;
use crate::wire::{Wire, put_varint};
use crate::{Error, Result};

/// Deepest nest of collapsed loops.
const MAX_NEST: u32 = 16;

/// A leaf recorded when its node executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// Slot that holds the value from here on.
    pub slot: u32,
    /// Bytes recorded: 1, 2, 4, 6 or 8; the value is zero-extended.
    pub width: u8,
}

/// Where an edge of the segment graph leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// On to this node within the segment (entering a collapsed loop when it is its header).
    Node(u32),
    /// The segment ends; the next one starts at this node and knows what this one knew.
    Cut(u32),
    /// The segment ends in a boundary call, return or unwind: what was known is forgotten.
    End,
    /// The segment ends on the back edge of this collapsed loop (its buffer became full): the next
    /// one goes on with the next iteration.
    LoopCut(u32),
}

/// What an edge does to an iteration number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopStep {
    /// Nothing.
    None,
    /// Enters this loop that is not collapsed: iteration 0.
    Enter(u32),
    /// Takes a back edge of this loop that is not collapsed: next iteration.
    Next(u32),
}

/// An edge of the segment graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where to.
    pub target: Target,
    /// Ball-Larus increment: paths through earlier edges of the same node.
    pub increment: u32,
    /// Effect on a loop's iteration number.
    pub step: LoopStep,
}

/// A block of the function (or an empty block that loop simplification added).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Node {
    /// Index in the module's blocks, `None` for one that is no block of the program.
    pub block: Option<u32>,
    /// Leaves recorded, in order.
    pub leaves: Vec<Leaf>,
    /// One expression per recorded operand of the block's operations, in order.
    pub operands: Vec<Expr>,
    /// Out edges, ascending increments. Of a collapsed loop's nodes only the header's are used: they
    /// are the edges that leave the whole loop.
    pub edges: Vec<Edge>,
}

/// How often a collapsed loop's back edge was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Count {
    /// Follows from what is known at its entry; the loop records nothing.
    Computed(Expr),
    /// Recorded in 6 bytes after the loop's own leaves.
    Recorded,
}

/// A loop of the function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loop {
    /// Each iteration is a path of its own (or the loop contains boundary calls).
    Plain,
    /// All iterations take the same path: nothing but leaves is recorded per iteration.
    Collapsed {
        /// First node.
        header: u32,
        /// Nodes of one iteration in order, the header first; the header of an inner collapsed loop
        /// stands for that whole loop.
        body: Vec<u32>,
        /// Nodes of `body` executed in the last iteration (at least 1).
        last: u32,
        /// Times the back edge was taken.
        count: Count,
    },
}

/// A place where segments start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Its node.
    pub node: u32,
    /// True after entry, boundary call, landing pad: nothing is known.
    pub fresh: bool,
    /// First path id, relative to the module's first path id.
    pub base: u32,
    /// Number of paths.
    pub paths: u32,
    /// Set when the segment resumes this collapsed loop (node is its header) after a [`Target::LoopCut`].
    pub resumes: Option<u32>,
}

/// One function in fast form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FastFunction {
    /// Index in the module's functions.
    pub function: u32,
    /// Number of leaf slots.
    pub slots: u32,
    /// Nodes.
    pub nodes: Vec<Node>,
    /// Loops.
    pub loops: Vec<Loop>,
    /// Segment starts, ascending and adjoining `base`.
    pub starts: Vec<Start>,
}

impl FastFunction {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.function));
        put_varint(out, u64::from(self.slots));
        put_varint(out, self.nodes.len() as u64);
        self.nodes.iter().for_each(|n| put_node(out, n));
        put_varint(out, self.loops.len() as u64);
        self.loops.iter().for_each(|l| put_loop(out, l));
        put_varint(out, self.starts.len() as u64);
        for s in &self.starts {
            put_varint(out, u64::from(s.node));
            put_varint(out, u64::from(s.base));
            put_varint(out, u64::from(s.paths));
            put_varint(out, u64::from(s.fresh));
            put_varint(out, s.resumes.map_or(0, |l| u64::from(l) + 1));
        }
    }

    pub(crate) fn decode(w: &mut Wire<'_>) -> Result<Self> {
        let function = w.varint32("function")?;
        let slots = w.varint32("slot count")?;
        let n = w.count("node count")?;
        let nodes = (0..n).map(|_| take_node(w)).collect::<Result<Vec<_>>>()?;
        let n = w.count("loop count")?;
        let loops = (0..n).map(|_| take_loop(w)).collect::<Result<Vec<_>>>()?;
        let n = w.count("start count")?;
        let starts = (0..n)
            .map(|_| {
                Ok(Start {
                    node: w.varint32("start node")?,
                    base: w.varint32("start base")?,
                    paths: w.varint32("paths")?,
                    fresh: w.varint("fresh")? != 0,
                    resumes: w.varint32("resumed loop")?.checked_sub(1),
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(FastFunction {
            function,
            slots,
            nodes,
            loops,
            starts,
        })
    }

    /// Checks that every index is in range, so that the decoder can rely on it; `blocks` gives the
    /// number of recorded operands of each block of the module.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the first thing out of range.
    pub fn check(&self, operands_of: &[usize], globals: usize) -> Result<()> {
        let bad = |detail: String| Error::Invalid {
            what: "fast function",
            offset: 0,
            detail,
        };
        let node = |n: u32| (n as usize) < self.nodes.len();
        if self.slots as usize > 1 << 20 {
            return Err(bad(format!("{} slots", self.slots)));
        }
        for (i, n) in self.nodes.iter().enumerate() {
            let want = match n.block {
                None => Some(0),
                Some(b) => operands_of.get(b as usize).copied(),
            };
            if want != Some(n.operands.len()) {
                return Err(bad(format!("node {i} has {} operands", n.operands.len())));
            }
            if n.leaves
                .iter()
                .any(|l| l.slot >= self.slots || ![1, 2, 4, 6, 8].contains(&l.width))
            {
                return Err(bad(format!("leaf of node {i}")));
            }
            if n.edges.iter().any(|e| !self.edge_ok(e)) {
                return Err(bad(format!("edge of node {i}")));
            }
            if !n.operands.iter().all(|e| self.expr_ok(e, globals)) {
                return Err(bad(format!("operand of node {i}")));
            }
        }
        for (i, l) in self.loops.iter().enumerate() {
            let Loop::Collapsed {
                header,
                body,
                last,
                count,
            } = l
            else {
                continue;
            };
            let whole = node(*header)
                && body.first() == Some(header)
                && body.iter().all(|n| node(*n))
                && (1..=body.len()).contains(&(*last as usize));
            let counted = match count {
                Count::Computed(e) => self.expr_ok(e, globals),
                Count::Recorded => true,
            };
            if !whole || !counted || !self.nests(i, body) {
                return Err(bad(format!("loop {i}")));
            }
        }
        let start_ok =
            |s: &Start| node(s.node) && s.resumes.is_none_or(|l| (l as usize) < self.loops.len());
        match self.starts.iter().position(|s| !start_ok(s)) {
            Some(i) => Err(bad(format!("start {i}"))),
            None => Ok(()),
        }
    }

    /// Inner loops come after outer ones (so nesting ends), are at most [`MAX_NEST`] deep, and record
    /// nothing themselves.
    fn nests(&self, outer: usize, body: &[u32]) -> bool {
        body[1..]
            .iter()
            .filter_map(|n| self.collapsed_at(*n))
            .all(|inner| {
                let inner = inner as usize;
                match &self.loops[inner] {
                    Loop::Collapsed {
                        body,
                        count: Count::Computed(_),
                        ..
                    } => {
                        inner > outer
                            && self.depth(inner, MAX_NEST)
                            && body.iter().all(|n| self.leaf_bytes(*n) == 0)
                    }
                    _ => false,
                }
            })
    }

    fn depth(&self, l: usize, left: u32) -> bool {
        let Loop::Collapsed { body, .. } = &self.loops[l] else {
            return true;
        };
        left > 0
            && body
                .iter()
                .skip(1)
                .filter_map(|n| self.collapsed_at(*n))
                .all(|inner| inner as usize > l && self.depth(inner as usize, left - 1))
    }

    fn edge_ok(&self, e: &Edge) -> bool {
        let target = match e.target {
            Target::Node(n) | Target::Cut(n) => (n as usize) < self.nodes.len(),
            Target::LoopCut(l) => (l as usize) < self.loops.len(),
            Target::End => true,
        };
        let step = match e.step {
            LoopStep::None => true,
            LoopStep::Enter(l) | LoopStep::Next(l) => (l as usize) < self.loops.len(),
        };
        target && step
    }

    fn expr_ok(&self, e: &Expr, globals: usize) -> bool {
        let mut ok = true;
        e.for_each_source(&mut |kind, i| {
            ok &= match kind {
                's' => i < self.slots,
                'l' => (i as usize) < self.loops.len(),
                _ => (i as usize) < globals,
            };
        });
        ok
    }
}

fn put_node(out: &mut Vec<u8>, n: &Node) {
    put_varint(out, n.block.map_or(0, |b| u64::from(b) + 1));
    put_varint(out, n.leaves.len() as u64);
    for l in &n.leaves {
        put_varint(out, u64::from(l.slot));
        out.push(l.width);
    }
    put_varint(out, n.operands.len() as u64);
    n.operands.iter().for_each(|e| e.encode(out));
    put_varint(out, n.edges.len() as u64);
    for e in &n.edges {
        let (tag, index) = match e.target {
            Target::Node(n) => (0, n),
            Target::Cut(n) => (1, n),
            Target::End => (2, 0),
            Target::LoopCut(l) => (3, l),
        };
        let (step, of) = match e.step {
            LoopStep::None => (0, 0),
            LoopStep::Enter(l) => (1, l),
            LoopStep::Next(l) => (2, l),
        };
        out.push(tag | step << 4);
        put_varint(out, u64::from(index));
        put_varint(out, u64::from(of));
        put_varint(out, u64::from(e.increment));
    }
}

fn take_node(w: &mut Wire<'_>) -> Result<Node> {
    let block = w.varint32("block")?.checked_sub(1);
    let n = w.count("leaf count")?;
    let leaves = (0..n)
        .map(|_| {
            Ok(Leaf {
                slot: w.varint32("slot")?,
                width: w.take(1, "width")?[0],
            })
        })
        .collect::<Result<Vec<_>>>()?;
    let n = w.count("operand count")?;
    let operands = (0..n)
        .map(|_| Expr::decode(w))
        .collect::<Result<Vec<_>>>()?;
    let n = w.count("edge count")?;
    let edges = (0..n).map(|_| take_edge(w)).collect::<Result<Vec<_>>>()?;
    Ok(Node {
        block,
        leaves,
        operands,
        edges,
    })
}

fn take_edge(w: &mut Wire<'_>) -> Result<Edge> {
    let tag = w.take(1, "edge")?[0];
    let index = w.varint32("edge target")?;
    let of = w.varint32("edge loop")?;
    let increment = w.varint32("increment")?;
    let target = match tag & 15 {
        0 => Target::Node(index),
        1 => Target::Cut(index),
        2 => Target::End,
        3 => Target::LoopCut(index),
        _ => return Err(w.invalid("edge", "unknown kind")),
    };
    let step = match tag >> 4 {
        0 => LoopStep::None,
        1 => LoopStep::Enter(of),
        2 => LoopStep::Next(of),
        _ => return Err(w.invalid("edge", "unknown step")),
    };
    Ok(Edge {
        target,
        increment,
        step,
    })
}

fn put_loop(out: &mut Vec<u8>, l: &Loop) {
    let Loop::Collapsed {
        header,
        body,
        last,
        count,
    } = l
    else {
        out.push(0);
        return;
    };
    out.push(if matches!(count, Count::Recorded) {
        1
    } else {
        2
    });
    put_varint(out, u64::from(*header));
    put_varint(out, body.len() as u64);
    body.iter().for_each(|n| put_varint(out, u64::from(*n)));
    put_varint(out, u64::from(*last));
    if let Count::Computed(e) = count {
        e.encode(out);
    }
}

fn take_loop(w: &mut Wire<'_>) -> Result<Loop> {
    let tag = w.take(1, "loop")?[0];
    if tag == 0 {
        return Ok(Loop::Plain);
    }
    let header = w.varint32("loop header")?;
    let n = w.count("loop body")?;
    let body = (0..n)
        .map(|_| w.varint32("body node"))
        .collect::<Result<Vec<_>>>()?;
    let last = w.varint32("last iteration")?;
    let count = match tag {
        1 => Count::Recorded,
        2 => Count::Computed(Expr::decode(w)?),
        _ => return Err(w.invalid("loop", "unknown kind")),
    };
    Ok(Loop::Collapsed {
        header,
        body,
        last,
        count,
    })
}
