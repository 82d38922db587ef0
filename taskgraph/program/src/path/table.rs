//! The static description of functions whose execution is stored as paths.

use crate::id::BlockId;
use crate::path::Expr;

/// Deepest nest of collapsed loops.
const MAX_NEST: u32 = 16;
/// The most leaf slots of a function.
const MAX_SLOTS: u32 = 1 << 20;

/// A function stored as paths: which blocks there are, what each records, and how operands follow
/// from it.
///
/// A *path* ([`Path`]) is an acyclic run through the nodes. Its execution stores the *leaves* of
/// its nodes; the operands of the nodes' blocks are expressions over the leaves known so far and
/// the iteration numbers of loops.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathFunction {
    /// Number of leaf slots.
    pub slots: u32,
    /// Nodes.
    pub nodes: Vec<PathNode>,
    /// Loops.
    pub loops: Vec<PathLoop>,
}

/// A block of a function stored as paths, or a node without a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathNode {
    /// The block that the node executes.
    pub block: Option<BlockId>,
    /// What an execution of the node stores, in order.
    pub leaves: Vec<Leaf>,
    /// One expression per operand of the block.
    pub operands: Vec<Expr>,
}

/// A stored value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// The slot that holds the value from here on.
    pub slot: u32,
    /// Bytes in the recorded form: 1, 2, 4, 6 or 8.
    pub width: u8,
}

/// A loop of a function stored as paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLoop {
    /// Each iteration is a path of its own; the loop has only an iteration number.
    Plain,
    /// All iterations are one step of a path.
    Collapsed {
        /// The nodes of one iteration in order. The first node is the loop's own; any other node
        /// that is the first of a collapsed loop stands for that whole loop.
        body: Vec<u32>,
        /// Number of nodes executed in the last iteration, at least 1.
        last: u32,
        /// How often the back edge was taken: a computed number, or `None` if it is stored.
        count: Option<Expr>,
    },
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A node is executed.
    Node(u32),
    /// All iterations of a collapsed loop are executed.
    Loop {
        /// The index of the loop.
        index: u32,
        /// Whether only whole iterations are executed, because the recording was cut and another
        /// path goes on.
        cut: bool,
        /// Whether the step goes on from such a cut, so that iteration numbers continue.
        resumed: bool,
    },
    /// A plain loop begins, with iteration 0.
    Enter(u32),
    /// A plain loop goes on with its next iteration.
    Next(u32),
}

/// One path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Index of the path's function.
    pub function: u32,
    /// Whether nothing is known at the path's start. Otherwise it goes on with the leaves and
    /// iteration numbers of the path before.
    pub fresh: bool,
    /// What the path executes.
    pub steps: Vec<Step>,
}

impl Leaf {
    /// The recorded value, zero-extended; bytes outside of `bytes` read as 0.
    #[inline]
    #[must_use]
    pub fn read(self, bytes: &[u8], at: usize) -> u64 {
        let unused = 64 - 8 * u32::from(self.width.clamp(1, 8));
        if let Some(word) = bytes.get(at..).and_then(|b| b.first_chunk::<8>()) {
            return u64::from_le_bytes(*word) << unused >> unused;
        }
        let mut word = [0; 8];
        let have = bytes.get(at..).unwrap_or_default();
        for (to, from) in word.iter_mut().zip(have).take(usize::from(self.width)) {
            *to = *from;
        }
        u64::from_le_bytes(word)
    }
}

impl PathNode {
    /// Bytes of the node's recorded leaves.
    #[must_use]
    pub fn leaf_bytes(&self) -> usize {
        self.leaves.iter().map(|l| usize::from(l.width)).sum()
    }
}

impl PathFunction {
    /// Makes this a function of a program in which block 0 of its module is `first_block`, with the
    /// addresses of globals put in.
    pub fn place(&mut self, first_block: u32, globals: &[u64]) {
        for node in &mut self.nodes {
            node.block = node.block.map(|b| BlockId::new(first_block.saturating_add(b.get())));
            node.operands.iter_mut().for_each(|e| e.set_globals(globals));
        }
        for l in &mut self.loops {
            if let PathLoop::Collapsed { count: Some(e), .. } = l {
                e.set_globals(globals);
            }
        }
    }

    /// Bytes of the recorded leaves of these nodes; nodes out of range have none.
    #[must_use]
    pub fn leaf_bytes(&self, nodes: &[u32]) -> usize {
        let bytes = |n: &u32| self.nodes.get(*n as usize).map_or(0, PathNode::leaf_bytes);
        nodes.iter().map(bytes).sum()
    }

    /// The collapsed loop whose first node is `node`.
    #[must_use]
    pub fn collapsed_at(&self, node: u32) -> Option<u32> {
        let at = |l: &PathLoop| matches!(l, PathLoop::Collapsed { body, .. } if body.first() == Some(&node));
        self.loops.iter().position(at).and_then(|i| u32::try_from(i).ok())
    }

    fn has_leaves(&self, nodes: &[u32]) -> bool {
        let leaves = |n: &u32| self.nodes.get(*n as usize).is_some_and(|n| !n.leaves.is_empty());
        nodes.iter().any(leaves)
    }

    /// Checks every index. `operands_of` gives the number of operands of a block, or `None` if
    /// there is no such block. The expressions may name so many globals: none in a graph.
    ///
    /// # Errors
    /// A description of what is out of range.
    pub fn check(
        &self,
        operands_of: impl Fn(BlockId) -> Option<usize>,
        globals: usize,
    ) -> Result<(), String> {
        if self.slots > MAX_SLOTS {
            return Err(format!("{} slots", self.slots));
        }
        let loops = self.loops.len();
        for (i, n) in self.nodes.iter().enumerate() {
            let want = n.block.map_or(Some(0), &operands_of);
            let leaf = |l: &Leaf| l.slot < self.slots && [1, 2, 4, 6, 8].contains(&l.width);
            if want != Some(n.operands.len())
                || !n.leaves.iter().all(leaf)
                || !n.operands.iter().all(|e| e.is_within(self.slots, loops, globals))
            {
                return Err(format!("node {i}"));
            }
        }
        // How deep the loops within each loop are.
        let mut depths = vec![0; loops];
        for (i, l) in self.loops.iter().enumerate().rev() {
            let PathLoop::Collapsed { body, last, count } = l else {
                continue;
            };
            let nodes = body.iter().all(|n| (*n as usize) < self.nodes.len());
            let counted = count.as_ref().is_none_or(|e| e.is_within(self.slots, loops, globals));
            let partial = (1..=body.len()).contains(&(*last as usize));
            // Leaves are found by counts that are stored, so that nobody has to compute any.
            let found = count.is_none() || !self.has_leaves(body);
            let inner = body.iter().skip(1).filter_map(|n| self.collapsed_at(*n));
            let mut inner = inner.map(|inner| inner as usize);
            // Inner loops come after outer ones, so that nesting ends, and store nothing.
            let depth = inner.try_fold(0, |depth, inner| match &self.loops[inner] {
                PathLoop::Collapsed { count: Some(_), .. } if inner > i => {
                    Some(depth.max(1 + depths[inner]))
                }
                _ => None,
            });
            let right = nodes && counted && partial && found;
            let Some(depth) = depth.filter(|depth| right && *depth <= MAX_NEST) else {
                return Err(format!("loop {i}"));
            };
            depths[i] = depth;
        }
        Ok(())
    }
}

impl Path {
    /// Checks every index of the path against its function.
    #[must_use]
    pub fn check(&self, f: &PathFunction) -> bool {
        let collapsed =
            |l: &u32| matches!(f.loops.get(*l as usize), Some(PathLoop::Collapsed { .. }));
        self.steps.iter().all(|s| match s {
            Step::Node(n) => (*n as usize) < f.nodes.len(),
            Step::Loop { index, .. } => collapsed(index),
            Step::Enter(l) | Step::Next(l) => (*l as usize) < f.loops.len(),
        })
    }
}
