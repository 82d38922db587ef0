//! Where a function checks that the buffer has room: at entry, after boundary calls, on back-edges,
//! and where a path without any of these would write more than the slack.

use contech_trace::abi::MAX_UNCHECKED;
use contech_trace::table::BLOCK_LOOP_HEADER;

use crate::graphs;
use crate::plan::{BlockPlan, Entered, FunctionPlan};

/// More bytes than any slack, for places where the cursor may already be at the limit.
const UNKNOWN: usize = usize::MAX / 2;

/// Sets `check`, `check_at_end` and the loop-header flag.
///
/// A forward dataflow computes the most bytes that may have been written since the last check. Its
/// first pass takes retreating edges as zero and gives the checks at entry and after calls. A cycle
/// that none of these breaks gets a check at the source of its retreating edges (every cycle has
/// one, reducible or not). Then every cycle is broken, and the values settle in a few passes.
pub(crate) fn place(plan: &mut FunctionPlan<'_>) {
    let mut flow = Flow::new(plan);
    flow.pass(plan, false);
    for source in unbroken_back_edges(plan) {
        plan.blocks[source].check_at_end = true;
    }
    // Nested loops settle in about as many passes as they are deep. A check is never taken back, so
    // the loop ends.
    while flow.pass(plan, true) {}
    for (i, block) in plan.blocks.iter().enumerate() {
        for s in block.successors.iter().filter(|s| **s <= i) {
            if let Some(piece) = plan.pieces.get_mut(plan.blocks[*s].pieces.start) {
                piece.flags |= BLOCK_LOOP_HEADER;
            }
        }
    }
}

struct Flow {
    /// The most bytes written since the last check, at the end of each block.
    outgoing: Vec<usize>,
    predecessors: Vec<Vec<usize>>,
}

impl Flow {
    fn new(plan: &FunctionPlan<'_>) -> Self {
        let n = plan.blocks.len();
        let mut predecessors = vec![Vec::new(); n];
        for (i, block) in plan.blocks.iter().enumerate() {
            for s in &block.successors {
                predecessors[*s].push(i);
            }
        }
        Flow { outgoing: vec![0; n], predecessors }
    }

    /// Visits every block once, in reverse post-order; returns whether anything changed.
    fn pass(&mut self, plan: &mut FunctionPlan<'_>, follow_back_edges: bool) -> bool {
        let mut changed = false;
        for i in 0..plan.blocks.len() {
            let block = &plan.blocks[i];
            let entered = plan.pieces[block.pieces.start].entered;
            let mut written = if matches!(entered, Entered::Start | Entered::Call) {
                UNKNOWN
            } else {
                let edges = self.predecessors[i].iter();
                let followed = edges.filter(|p| follow_back_edges || **p < i);
                followed.map(|p| self.outgoing[*p]).max().unwrap_or(0)
            };
            for piece in &mut plan.pieces[block.pieces.clone()] {
                let bytes = piece.bytes();
                if bytes > 0 && written + bytes > MAX_UNCHECKED && !piece.check {
                    piece.check = true;
                    changed = true;
                }
                if piece.check {
                    written = 0;
                }
                written += bytes;
                if piece.ends_with_call() {
                    written = UNKNOWN;
                }
            }
            if block.check_at_end {
                written = 0;
            }
            changed |= self.outgoing[i] != written;
            self.outgoing[i] = written;
        }
        changed
    }
}

/// Sources of retreating edges on a cycle in which no block resets.
fn unbroken_back_edges(plan: &FunctionPlan<'_>) -> Vec<usize> {
    // Whether the value at a block's end does not depend on the value at its beginning.
    let resets = |block: &BlockPlan<'_>| {
        let pieces = &plan.pieces[block.pieces.clone()];
        pieces[0].entered == Entered::Call || pieces.iter().any(|p| p.check || p.ends_with_call())
    };
    let resets: Vec<bool> = plan.blocks.iter().map(resets).collect();
    let edges =
        plan.blocks.iter().enumerate().flat_map(|(i, b)| b.successors.iter().map(move |s| (i, *s)));
    let unbroken = edges.clone().filter(|(from, to)| !resets[*from] && !resets[*to]);
    let component = graphs::components(plan.blocks.len(), unbroken);
    edges
        .filter(|(from, to)| to <= from && component[*from] == component[*to])
        .filter(|(from, _)| !resets[*from])
        .map(|(from, _)| from)
        .collect()
}
