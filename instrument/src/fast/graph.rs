//! The segment graph of a function, whose nodes are the pieces of its plan.

use std::collections::HashMap;

use inkwell::basic_block::BasicBlock;
use inkwell::values::{FunctionValue, InstructionOpcode};

use super::scev::Analysis;
use crate::callee;
use crate::ir::{self, Operand};
use crate::plan::{self, BlockPlan, Entered, FunctionPlan};

/// What is said of a piece beyond its plan.
#[derive(Debug)]
pub(crate) struct Node {
    /// Position of its first instruction in the basic block.
    pub(crate) first_order: u32,
    /// A segment starts here, and nothing is known at its start.
    pub(crate) fresh: bool,
    /// The node ends with a boundary call, return, unwind or indirect branch.
    pub(crate) ends: bool,
    /// Nothing is written here: the node is the return right after a call.
    pub(crate) dead: bool,
    /// Distinct successors within the segment; none when the node ends it.
    pub(crate) successors: Vec<usize>,
    pub(crate) predecessors: Vec<usize>,
    pub(crate) in_loop: Option<usize>,
    /// How often it is expected to execute in a call of the function.
    pub(crate) frequency: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: usize,
    /// Position in its basic block.
    pub(crate) order: u32,
}

/// The graph.
#[derive(Debug)]
pub(crate) struct Graph {
    /// For each piece.
    pub(crate) nodes: Vec<Node>,
    /// Outer loops come before inner ones.
    pub(crate) loops: Vec<Loop>,
    /// For each node: the loop whose header it is, and the loops whose preheader it ends.
    pub(crate) header_of: Vec<Option<usize>>,
    pub(crate) before: Vec<Vec<usize>>,
    places: HashMap<Operand, Place>,
}

#[derive(Debug)]
pub(crate) struct Loop {
    pub(crate) header: usize,
    /// The node at the end of the preheader of a loop without boundary calls, whose iterations can
    /// be counted.
    pub(crate) preheader: Option<usize>,
    pub(crate) parent: Option<usize>,
    /// Its nodes, ascending.
    pub(crate) members: Vec<usize>,
}

impl Graph {
    /// Builds the graph of a function, with its loops if they are analysed.
    pub(crate) fn build<'m>(
        plan: &FunctionPlan<'m>,
        analysis: Option<&Analysis<'m>>,
    ) -> Option<Self> {
        let n = plan.pieces.len();
        let mut graph = Graph {
            nodes: Vec::with_capacity(n),
            loops: Vec::new(),
            header_of: vec![None; n],
            before: vec![Vec::new(); n],
            places: HashMap::new(),
        };
        let mut blocks = HashMap::new();
        for block in &plan.blocks {
            graph.block(plan, block, analysis);
            blocks.insert(block.bb.as_mut_ptr(), block);
        }
        for i in 0..n {
            for s in graph.nodes[i].successors.clone() {
                graph.nodes[s].predecessors.push(i);
            }
        }
        let loops = analysis.map(Analysis::loops).unwrap_or_default();
        for (l, raw) in loops.into_iter().enumerate() {
            let header = blocks.get(&raw.header)?.pieces.start;
            let preheader = blocks.get(&raw.preheader).map(|b| b.pieces.end - 1);
            graph.header_of[header] = Some(l);
            if let Some(before) = preheader {
                graph.before[before].push(l);
            }
            let parent = usize::try_from(raw.parent).ok();
            graph.loops.push(Loop { header, preheader, parent, members: Vec::new() });
        }
        for n in 0..n {
            for l in graph.around(n).collect::<Vec<_>>() {
                graph.loops[l].members.push(n);
            }
        }
        Some(graph)
    }

    /// Adds the nodes of a basic block.
    fn block<'m>(
        &mut self,
        plan: &FunctionPlan<'m>,
        block: &BlockPlan<'m>,
        analysis: Option<&Analysis<'m>>,
    ) {
        let in_loop = analysis.and_then(|analysis| analysis.loop_of(block.bb));
        let frequency = analysis.map_or(1.0, |analysis| analysis.frequency(block.bb));
        for n in block.pieces.clone() {
            let piece = &plan.pieces[n];
            let fresh = piece.entered != Entered::Branch;
            let opcode = (piece.last == block.terminator).then(|| piece.last.get_opcode());
            let leaves = opcode.is_some_and(leaves);
            let ends =
                leaves || opcode == Some(InstructionOpcode::IndirectBr) || piece.ends_with_call();
            let mut successors: Vec<usize> = Vec::new();
            if !ends && n + 1 < block.pieces.end {
                successors.push(n + 1);
            } else if !ends {
                for s in block.successors.iter().map(|s| plan.blocks[*s].pieces.start) {
                    if !successors.contains(&s) {
                        successors.push(s);
                    }
                }
            }
            self.nodes.push(Node {
                first_order: 0,
                fresh,
                ends,
                dead: piece.silent && leaves && fresh && n != block.pieces.start,
                successors,
                predecessors: Vec::new(),
                in_loop,
                frequency,
            });
        }
        // PHIs and pads belong to the first node.
        let mut node = block.pieces.start;
        for (order, inst) in (0..).zip(block.bb.get_instructions()) {
            if node + 1 < block.pieces.end && plan.pieces[node + 1].start == inst {
                node += 1;
            }
            if plan.pieces[node].start == inst {
                self.nodes[node].first_order = order;
            }
            self.places.insert(Operand::of(&inst), Place { node, order });
        }
    }

    /// The loops around a node, from the innermost out.
    pub(crate) fn around(&self, node: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.nodes[node].in_loop, |l| self.loops[*l].parent)
    }

    pub(crate) fn contains(&self, l: usize, node: usize) -> bool {
        self.loops[l].members.binary_search(&node).is_ok()
    }

    /// Whether iterations of the loop are counted.
    pub(crate) fn tracked(&self, l: usize) -> bool {
        self.loops[l].preheader.is_some()
    }

    /// The loop whose header the node is, and the end of its preheader, if its iterations are
    /// counted.
    pub(crate) fn entered_from(&self, node: usize) -> Option<(&Loop, usize)> {
        let entered = &self.loops[self.header_of[node]?];
        Some((entered, entered.preheader?))
    }

    /// Where a value is defined; `None` for arguments and constants.
    pub(crate) fn place(&self, v: Operand) -> Option<Place> {
        self.places.get(&v).copied()
    }
}

/// Whether an instruction ends the function.
fn leaves(opcode: InstructionOpcode) -> bool {
    use InstructionOpcode::{Resume, Return, Unreachable};
    matches!(opcode, Return | Resume | Unreachable)
}

/// The basic blocks that contain boundary calls or indirect branches, and whether something forbids
/// the fast form.
pub(crate) fn calling_blocks(f: FunctionValue<'_>) -> Result<Vec<BasicBlock<'_>>, &'static str> {
    let ends_piece = |i| ir::is_call(i) && plan::ends_piece(i, &callee::classify(i));
    let mut calling = Vec::new();
    for block in plan::reverse_post_order(f) {
        let end = block.get_terminator().map(|end| end.get_opcode());
        if end == Some(InstructionOpcode::CallBr) {
            return Err("asm goto");
        }
        let jumps = end == Some(InstructionOpcode::IndirectBr);
        if jumps || block.get_instructions().any(ends_piece) {
            calling.push(block);
        }
    }
    Ok(calling)
}
