//! The static description of one function in fast form, and its encoding inside the module table.

use std::sync::Arc;

use contech_program::BlockId;
use contech_program::path::{PathFunction, PathLoop, PathNode};
use contech_program::wire::put_varint;

use crate::{Error, Reader, Result, put};

/// Where an edge of the segment graph leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The segment goes on to this node (and enters a collapsed loop if the node is its header).
    Node(u32),
    /// The segment ends. The next one starts at this node, and knows what this one knew.
    Cut(u32),
    /// The segment ends in a boundary call, return or unwind, and what was known is forgotten.
    End,
    /// The segment ends on the back edge of this collapsed loop, because its buffer became full.
    /// The next segment goes on with the next iteration.
    LoopCut(u32),
}

/// What an edge does to an iteration number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopStep {
    /// It does nothing.
    None,
    /// It enters this loop, which is not collapsed: the iteration number becomes 0.
    Enter(u32),
    /// It takes a back edge of this loop, which is not collapsed: the next iteration begins.
    Next(u32),
}

/// An edge of the segment graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// Where the edge leads.
    pub target: Target,
    /// Ball-Larus increment: the number of paths through earlier edges of the same node.
    pub increment: u32,
    /// What the edge does to a loop's iteration number.
    pub step: LoopStep,
}

/// A place where segments start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// The node where segments start.
    pub node: u32,
    /// True after entry, boundary call and landing pad, where nothing is known.
    pub fresh: bool,
    /// First path id, relative to the module's first path id.
    pub base: u32,
    /// Number of paths.
    pub paths: u32,
    /// Set if the segment resumes this collapsed loop (whose header is `node`) after a
    /// [`Target::LoopCut`].
    pub resumes: Option<u32>,
}

/// One function in fast form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FastFunction {
    /// Index in the module's functions.
    pub function: u32,
    /// The function's nodes and loops. Blocks are those of the module, and expressions may name its
    /// globals.
    pub code: Arc<PathFunction>,
    /// Out edges of each node, with ascending increments. Of a collapsed loop's nodes, only the
    /// header's edges are used: they are the edges that leave the whole loop.
    pub edges: Vec<Vec<Edge>>,
    /// Segment starts, whose `base` ascend and adjoin.
    pub starts: Vec<Start>,
}

impl FastFunction {
    /// Makes a function of nodes, each with its out edges.
    #[must_use]
    pub fn new(
        function: u32,
        slots: u32,
        nodes: impl IntoIterator<Item = (PathNode, Vec<Edge>)>,
        loops: Vec<PathLoop>,
        starts: Vec<Start>,
    ) -> Self {
        let (nodes, edges) = nodes.into_iter().unzip();
        Self { function, code: Arc::new(PathFunction { slots, nodes, loops }), edges, starts }
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, u64::from(self.function));
        self.code.encode(out);
        for edges in &self.edges {
            put_varint(out, edges.len() as u64);
            edges.iter().for_each(|e| put_edge(out, e));
        }
        put_varint(out, self.starts.len() as u64);
        for s in &self.starts {
            put(out, [s.node.into(), s.base.into(), s.paths.into(), s.fresh.into()]);
            put_varint(out, s.resumes.map_or(0, |l| u64::from(l) + 1));
        }
    }

    pub(crate) fn decode(w: &mut Reader<'_>) -> Result<Self> {
        let function = w.varint32()?;
        let code = Arc::new(PathFunction::decode(w)?);
        let edges = code.nodes.iter().map(|_| w.list(take_edge));
        let edges = edges.collect::<Result<_>>()?;
        let starts = w.list(|w| {
            Ok(Start {
                node: w.varint32()?,
                base: w.varint32()?,
                paths: w.varint32()?,
                fresh: w.varint()? != 0,
                resumes: w.varint32()?.checked_sub(1),
            })
        })?;
        Ok(FastFunction { function, code, edges, starts })
    }

    /// Checks that every index is in range, so that the decoder can rely on it; `operands_of` gives
    /// the number of recorded operands of each block of the module.
    ///
    /// # Errors
    /// [`Error::Invalid`] naming the first thing out of range.
    pub fn check(&self, operands_of: &[usize], globals: usize) -> Result<()> {
        let bad = |detail: String| Error::Invalid { what: "fast function", offset: 0, detail };
        let operands = |b: BlockId| operands_of.get(b.index()).copied();
        self.code.check(operands, globals).map_err(bad)?;
        if self.edges.len() != self.code.nodes.len() {
            return Err(bad(format!("edges of {} nodes", self.edges.len())));
        }
        let wrong = |edges: &Vec<Edge>| edges.iter().any(|e| !self.edge_ok(e));
        if let Some(i) = self.edges.iter().position(wrong) {
            return Err(bad(format!("edge of node {i}")));
        }
        let (nodes, loops) = (self.code.nodes.len(), self.code.loops.len());
        let start_ok =
            |s: &Start| (s.node as usize) < nodes && s.resumes.is_none_or(|l| (l as usize) < loops);
        match self.starts.iter().position(|s| !start_ok(s)) {
            Some(i) => Err(bad(format!("start {i}"))),
            None => Ok(()),
        }
    }

    fn edge_ok(&self, e: &Edge) -> bool {
        let (nodes, loops) = (self.code.nodes.len(), self.code.loops.len());
        let target = match e.target {
            Target::Node(n) | Target::Cut(n) => (n as usize) < nodes,
            Target::LoopCut(l) => (l as usize) < loops,
            Target::End => true,
        };
        let step = match e.step {
            LoopStep::None => true,
            LoopStep::Enter(l) | LoopStep::Next(l) => (l as usize) < loops,
        };
        target && step
    }
}

fn put_edge(out: &mut Vec<u8>, e: &Edge) {
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
    put(out, [index.into(), of.into(), e.increment.into()]);
}

fn take_edge(w: &mut Reader<'_>) -> Result<Edge> {
    let tag = w.u8()?;
    let index = w.varint32()?;
    let of = w.varint32()?;
    let increment = w.varint32()?;
    let target = match tag & 15 {
        0 => Target::Node(index),
        1 => Target::Cut(index),
        2 => Target::End,
        3 => Target::LoopCut(index),
        _ => return Err(w.error("edge: unknown kind")),
    };
    let step = match tag >> 4 {
        0 => LoopStep::None,
        1 => LoopStep::Enter(of),
        2 => LoopStep::Next(of),
        _ => return Err(w.error("edge: unknown step")),
    };
    Ok(Edge { target, increment, step })
}
