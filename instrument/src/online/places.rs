//! Where a function reports its events: the block E, which reports the entry, and the syncs whose
//! report can wait until the function returns.

use std::collections::HashSet;

use inkwell::values::{InstructionOpcode, InstructionValue};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::NodeIndex;
use workspan::abi;

use crate::callee::{self, Call};
use crate::graphs;
use crate::ir;
use crate::plan::{BlockPlan, End, FunctionPlan, Piece};

/// Whether E was passed on the way to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Always,
    Never,
    Perhaps,
}

/// The blocks to which there is a way from this one.
fn behind(plan: &FunctionPlan<'_>, block: usize) -> Vec<usize> {
    let next = |at: usize| plan.blocks[at].successors.clone();
    graphs::reverse_post_order(next(block), next)
}

/// The block E, if anything is called, and for every block whether E was passed before it.
pub(super) fn enters(plan: &FunctionPlan<'_>) -> (Option<usize>, Vec<Passed>) {
    let calls =
        |i: &usize| plan.pieces[plan.blocks[*i].pieces.clone()].iter().any(Piece::ends_with_call);
    let n = plan.blocks.len();
    let edges = plan.blocks.iter().enumerate();
    let edges = edges.flat_map(|(from, block)| block.successors.iter().map(move |to| (from, *to)));
    let graph = graphs::graph(n, edges);
    let dominators = simple_fast(&graph, NodeIndex::new(0));
    // The dominators of a block, from the entry down.
    let chain = |i: usize| {
        let all = dominators.dominators(NodeIndex::new(i)).into_iter().flatten();
        let mut all: Vec<usize> = all.map(NodeIndex::index).collect();
        all.reverse();
        all
    };
    let same = |a: Vec<usize>, b: Vec<usize>| {
        let both = a.into_iter().zip(b);
        both.take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    };
    let common = (0..n).filter(calls).map(chain).reduce(same).unwrap_or_default();
    // E is the last block that will do. The entry always does, since no block precedes it.
    let good = |&e: &usize| {
        let behind: HashSet<usize> = behind(plan, e).into_iter().collect();
        let passed = |i: usize| match chain(i).contains(&e) {
            true => Passed::Always,
            false if behind.contains(&i) => Passed::Perhaps,
            false => Passed::Never,
        };
        (!behind.contains(&e)).then(|| (Some(e), (0..n).map(passed).collect()))
    };
    common.iter().rev().find_map(good).unwrap_or_else(|| (None, vec![Passed::Never; n]))
}

/// The syncs after which nothing is called before the function returns.
pub(super) fn last_syncs<'m>(plan: &FunctionPlan<'m>) -> HashSet<InstructionValue<'m>> {
    let quiet: Vec<bool> =
        plan.blocks.iter().map(|block| !block.bb.get_instructions().any(takes_time)).collect();
    let ends_well = |block: &BlockPlan<'m>| {
        !block.successors.is_empty() || block.terminator.get_opcode() == InstructionOpcode::Return
    };
    let returns = |from: usize| {
        let all = |at: usize| quiet[at] && ends_well(&plan.blocks[at]);
        ends_well(&plan.blocks[from]) && behind(plan, from).into_iter().all(all)
    };
    let mut last = HashSet::new();
    for (i, block) in plan.blocks.iter().enumerate() {
        let mut pieces = plan.pieces[block.pieces.clone()].iter().rev();
        let Some(piece) = pieces
            .find(|p| p.ends_with_call())
            .filter(|p| matches!(&p.end, End::Call { callee, .. } if callee == abi::CILK_SYNC))
        else {
            continue;
        };
        let mut after =
            std::iter::successors(piece.last.get_next_instruction(), |i| i.get_next_instruction());
        if !after.any(takes_time) && returns(i) {
            last.insert(piece.last);
        }
    }
    last
}

/// Whether the instruction is a call whose operations are not counted.
pub(super) fn takes_time(inst: InstructionValue<'_>) -> bool {
    ir::is_call(inst)
        && match callee::classify(inst) {
            Call::Nothing | Call::Asm { .. } => false,
            Call::Intrinsic { name } => copies(&name),
            Call::Pure | Call::Boundary { .. } => true,
        }
}

/// Whether the call is one of an intrinsic that is compiled to a call of the C library.
pub(super) fn is_copy(call: InstructionValue<'_>) -> bool {
    matches!(callee::classify(call), Call::Intrinsic { name } if copies(&name))
}

fn copies(intrinsic: &str) -> bool {
    intrinsic.starts_with("llvm.mem")
}
