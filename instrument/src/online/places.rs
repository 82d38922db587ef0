//! Where a function reports its events: the block E, which reports the entry, and the syncs whose
//! report can wait until the function returns.

use std::collections::HashSet;

use inkwell::values::{InstructionOpcode, InstructionValue};
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use workspan::abi;

use crate::callee::{self, Call};
use crate::plan::{BlockPlan, End, FunctionPlan};

/// Whether E was passed on the way to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Passed {
    Always,
    Never,
    Perhaps,
}

/// The block E, and for every block whether E was passed before it.
pub(super) fn enters(plan: &FunctionPlan<'_>) -> Option<(usize, Vec<Passed>)> {
    let calls = |i: usize| {
        let pieces = &plan.pieces[plan.blocks[i].pieces.clone()];
        pieces.iter().any(|p| matches!(p.end, End::Call { .. }))
    };
    let calling: Vec<usize> = (0..plan.blocks.len()).filter(|&i| calls(i)).collect();
    if calling.is_empty() {
        return None;
    }
    let mut graph = DiGraph::<(), ()>::new();
    let nodes: Vec<NodeIndex> = plan.blocks.iter().map(|_| graph.add_node(())).collect();
    for (from, block) in plan.blocks.iter().enumerate() {
        for &to in &block.successors {
            graph.add_edge(nodes[from], nodes[to], ());
        }
    }
    let dominators = simple_fast(&graph, nodes[0]);
    // The dominators of a block, from the entry down.
    let chain = |i: usize| {
        let mut all: Vec<usize> =
            dominators.dominators(nodes[i]).into_iter().flatten().map(NodeIndex::index).collect();
        all.reverse();
        all
    };
    let mut common = chain(calling[0]);
    for &i in &calling[1..] {
        let same = chain(i).iter().zip(&common).take_while(|(a, b)| a == b).count();
        common.truncate(same);
    }
    // E is the last block that will do. The entry always does, since no block precedes it.
    let good = |&e: &usize| {
        let mut behind = vec![false; nodes.len()];
        let mut starts: Vec<usize> = plan.blocks[e].successors.clone();
        behind[e] = true;
        while let Some(at) = starts.pop() {
            if at == e {
                return None;
            }
            if !std::mem::replace(&mut behind[at], true) {
                starts.extend(&plan.blocks[at].successors);
            }
        }
        let passed = |i: usize| match behind[i] {
            false => Passed::Never,
            true if chain(i).contains(&e) => Passed::Always,
            true => Passed::Perhaps,
        };
        Some((e, (0..nodes.len()).map(passed).collect()))
    };
    common.iter().rev().find_map(good)
}

/// The syncs after which nothing is called before the function returns.
pub(super) fn last_syncs<'m>(plan: &FunctionPlan<'m>) -> HashSet<InstructionValue<'m>> {
    let calls = |inst: InstructionValue<'m>| {
        matches!(inst.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke)
            && match callee::classify(inst) {
                Call::Nothing | Call::Asm { .. } => false,
                Call::Intrinsic { name } => takes_time(&name),
                Call::Pure | Call::Boundary { .. } => true,
            }
    };
    let quiet: Vec<bool> = plan
        .blocks
        .iter()
        .map(|block| {
            let all = block.terminator.get_parent();
            !all.into_iter().flat_map(|b| b.get_instructions()).any(calls)
        })
        .collect();
    let ends_well = |block: &BlockPlan<'m>| {
        !block.successors.is_empty() || block.terminator.get_opcode() == InstructionOpcode::Return
    };
    let returns = |from: usize| {
        let mut seen = vec![false; plan.blocks.len()];
        let mut ways = plan.blocks[from].successors.clone();
        while let Some(at) = ways.pop() {
            if !quiet[at] || !ends_well(&plan.blocks[at]) {
                return false;
            }
            if !std::mem::replace(&mut seen[at], true) {
                ways.extend(&plan.blocks[at].successors);
            }
        }
        ends_well(&plan.blocks[from])
    };
    let mut last = HashSet::new();
    for (i, block) in plan.blocks.iter().enumerate() {
        let pieces = plan.pieces[block.pieces.clone()].iter().rev();
        let Some(piece) = pieces
            .clone()
            .find(|p| matches!(p.end, End::Call { .. }))
            .filter(|p| matches!(&p.end, End::Call { callee, .. } if callee == abi::CILK_SYNC))
        else {
            continue;
        };
        let after =
            std::iter::successors(piece.last.get_next_instruction(), |i| i.get_next_instruction());
        if !after.into_iter().any(calls) && returns(i) {
            last.insert(piece.last);
        }
    }
    last
}

/// Whether the intrinsic is compiled to a call of the C library.
pub(super) fn takes_time(name: &str) -> bool {
    name.starts_with("llvm.mem")
}
