//! What compiled functions consist of, and the state of an execution.

use crate::Counts;
use crate::id::BlockId;
use crate::path::Leaf;
use crate::path::value::Value;

/// Stands for the block of a node that has none.
pub const NO_BLOCK: u32 = u32::MAX;

/// A compiled node.
#[derive(Debug)]
pub struct CompiledNode {
    /// The block, or [`NO_BLOCK`].
    pub block: u32,
    /// What an execution of the node stores, in order.
    pub leaves: Box<[Leaf]>,
    /// One value per operand of the block.
    pub operands: Box<[Value]>,
    /// What an execution counts, if every execution counts the same.
    pub counts: Option<Counts>,
    /// The collapsed loop whose first node this is.
    pub collapsed: Option<u32>,
}

/// The whole iterations of a collapsed loop without inner loops and leaves whose operands are all
/// linear.
#[derive(Debug)]
pub struct Flat {
    /// For each block, the block and the end of its operands, in order.
    pub blocks: Box<[(BlockId, u32)]>,
    /// The node, and the operand within the node, of each operand.
    pub operands: Box<[(u32, u32)]>,
    /// The change of each operand per iteration.
    pub strides: Box<[u64]>,
}

/// A loop whose operands leave their bits has at most this many iterations: they are executed one
/// by one.
pub const MOST_WRAPPING: u64 = 1 << 24;

impl Flat {
    /// Replaces `starts` by the operands of the first iteration. Returns false if an operand leaves
    /// its bits within so many iterations.
    #[inline]
    #[must_use]
    pub fn start(
        &self,
        nodes: &[CompiledNode],
        state: &State,
        iterations: u64,
        starts: &mut Vec<u64>,
    ) -> bool {
        starts.clear();
        let mut stay = true;
        for ((node, k), stride) in self.operands.iter().zip(&self.strides) {
            let value = &nodes[*node as usize].operands[*k as usize];
            let start = value.eval(&state.slots, &state.iterations);
            stay &= value.stays(start, *stride, iterations);
            starts.push(start);
        }
        stay
    }
}

/// A compiled collapsed loop.
#[derive(Debug)]
pub struct CompiledLoop {
    /// Nodes of one iteration.
    pub body: Box<[u32]>,
    /// How many nodes of `body` are executed in the last iteration.
    pub last: usize,
    /// How often the back edge is taken, unless that is recorded.
    pub count: Option<Value>,
    /// Nodes of the body with leaves.
    pub leafy: Box<[u32]>,
    /// How many nodes of `leafy` are executed in the last iteration.
    pub leafy_last: usize,
    /// The loop's flat form, if it has one.
    pub flat: Option<Flat>,
    /// Whether the loop has inner loops.
    pub nested: bool,
    /// What a whole iteration counts, if every iteration counts the same and the loop has no inner
    /// loops.
    pub each: Option<Counts>,
    /// What the last iteration counts, under the same conditions.
    pub end: Option<Counts>,
}

impl CompiledLoop {
    /// The number of whole iterations of an execution whose back edge is taken `count` times.
    #[inline]
    #[must_use]
    pub fn whole(&self, count: u64, cut: bool) -> u64 {
        let last = !cut && self.last == self.body.len();
        count.saturating_add(last.into())
    }
}

/// What is known of the executed function: its leaf slots and iteration numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Leaf slots.
    pub slots: Vec<u64>,
    /// Iteration numbers of loops.
    pub iterations: Vec<u64>,
}
