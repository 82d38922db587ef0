//! The segment graph of a function: the pieces of its plan, and the blocks that loop simplification
//! added.

use std::collections::HashMap;
use std::ops::Range;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMBasicBlockRef;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};

use super::scev::Analysis;
use crate::ir::{self, Operand};
use crate::plan::{BlockPlan, FunctionPlan, Piece, reverse_post_order};

/// A piece, or a block that the program does not have.
#[derive(Debug)]
pub(crate) struct Node<'m> {
    pub(crate) bb: BasicBlock<'m>,
    /// Index in [`FunctionPlan::pieces`].
    pub(crate) piece: Option<usize>,
    /// Index of the block in the module's table, if it is in the table.
    pub(crate) block: Option<u32>,
    /// First instruction that is neither a PHI nor a landing pad.
    pub(crate) first: InstructionValue<'m>,
    /// Position of `first` in the basic block.
    pub(crate) first_order: u32,
    /// Terminator, boundary call, or first instruction of the next piece.
    pub(crate) last: InstructionValue<'m>,
    /// A segment starts here, and nothing is known at its start.
    pub(crate) fresh: bool,
    /// An indirect branch leads here: the cursor is where it was, but nothing else is known.
    pub(crate) jumped: bool,
    /// The code that ran before has handed the cursor over or back in a slot (see `carry`).
    pub(crate) carried: bool,
    /// The node ends with a call that takes the cursor.
    pub(crate) carries: bool,
    /// The node ends with a boundary call, return, unwind or indirect branch.
    pub(crate) ends: bool,
    /// Nothing is written here: the node is the return right after a call.
    pub(crate) dead: bool,
    /// Distinct successors within the segment; none when the node ends it.
    pub(crate) successors: Vec<usize>,
    pub(crate) predecessors: Vec<usize>,
    pub(crate) in_loop: Option<usize>,
    /// Number of loops around the node.
    pub(crate) depth: u32,
    /// How often it is expected to execute in a call of the function.
    pub(crate) frequency: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) node: usize,
    /// Position in its basic block.
    pub(crate) order: u32,
}

/// The graph: its nodes are in reverse post-order, and those of one basic block adjoin.
#[derive(Debug)]
pub(crate) struct Graph<'m> {
    pub(crate) nodes: Vec<Node<'m>>,
    /// Outer loops come before inner ones.
    pub(crate) loops: Vec<Loop>,
    /// For each node: the loop whose header it is, and the loops whose preheader it ends.
    pub(crate) header_of: Vec<Option<usize>>,
    pub(crate) before: Vec<Vec<usize>>,
    places: HashMap<Operand, Place>,
    first_of: HashMap<LLVMBasicBlockRef, usize>,
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

impl<'m> Graph<'m> {
    /// Builds the graph of a function.
    pub(crate) fn build(
        f: FunctionValue<'m>,
        plan: &FunctionPlan<'m>,
        analysis: &Analysis<'m>,
    ) -> Option<Self> {
        let order = reverse_post_order(f);
        let pieces = plan.blocks.iter().map(|b| (b.bb, b.pieces.clone())).collect();
        let mut graph = Graph {
            nodes: Vec::new(),
            loops: Vec::new(),
            header_of: Vec::new(),
            before: Vec::new(),
            places: HashMap::new(),
            first_of: HashMap::new(),
        };
        let mut last_of = HashMap::new();
        for bb in &order {
            let first = graph.nodes.len();
            graph.first_of.insert(bb.as_mut_ptr(), first);
            graph.block(*bb, plan, &pieces, analysis)?;
            last_of.insert(bb.as_mut_ptr(), graph.nodes.len() - 1);
        }
        graph.nodes.first_mut()?.fresh = true;
        graph.connect(&last_of);
        graph.header_of = vec![None; graph.nodes.len()];
        graph.before = vec![Vec::new(); graph.nodes.len()];
        for (l, raw) in analysis.loops().into_iter().enumerate() {
            let header = *graph.first_of.get(&raw.header)?;
            let preheader = last_of.get(&raw.preheader).copied();
            graph.header_of[header] = Some(l);
            if let Some(before) = preheader {
                graph.before[before].push(l);
            }
            let parent = usize::try_from(raw.parent).ok();
            graph.loops.push(Loop { header, preheader, parent, members: Vec::new() });
        }
        for n in 0..graph.nodes.len() {
            for l in graph.around(n).collect::<Vec<_>>() {
                graph.loops[l].members.push(n);
                graph.nodes[n].depth += 1;
            }
        }
        Some(graph)
    }

    /// Adds the nodes of a basic block.
    fn block(
        &mut self,
        bb: BasicBlock<'m>,
        plan: &FunctionPlan<'m>,
        pieces: &HashMap<BasicBlock<'m>, Range<usize>>,
        analysis: &Analysis<'m>,
    ) -> Option<()> {
        let (in_loop, frequency) = (analysis.loop_of(bb), analysis.frequency(bb));
        let range = pieces.get(&bb).cloned();
        let terminator = bb.get_terminator()?;
        let mut next = range.as_ref().map_or(0, |r| r.start);
        let mut after_call = false;
        let mut open: Option<usize> = None;
        for (order, inst) in (0..).zip(bb.get_instructions()) {
            let pad =
                matches!(inst.get_opcode(), InstructionOpcode::Phi | InstructionOpcode::LandingPad);
            if !pad {
                let starts = match &range {
                    Some(r) => next < r.end && plan.pieces[next].start == inst,
                    None => open.is_none(),
                };
                if starts {
                    let index = range.as_ref().map(|_| next);
                    let piece = index.map(|p| &plan.pieces[p]);
                    let last = piece.map_or(terminator, |p| p.last);
                    let opcode = (last == terminator).then(|| last.get_opcode());
                    let leaves = opcode.is_some_and(leaves);
                    let jumps = opcode == Some(InstructionOpcode::IndirectBr);
                    let calls = piece.is_some_and(Piece::ends_with_call);
                    open = Some(self.nodes.len());
                    self.nodes.push(Node {
                        bb,
                        piece: index,
                        block: piece.filter(|p| !p.silent).map(|p| p.id),
                        first: inst,
                        first_order: order,
                        last,
                        fresh: after_call,
                        jumped: false,
                        carried: after_call && plan.pieces[next - 1].carries,
                        carries: piece.is_some_and(|p| p.carries),
                        ends: leaves || jumps || calls,
                        dead: piece.is_none_or(|p| p.silent) && leaves && after_call,
                        successors: Vec::new(),
                        predecessors: Vec::new(),
                        in_loop,
                        depth: 0,
                        frequency,
                    });
                    after_call = calls;
                    next += 1;
                }
            }
            // PHIs and pads belong to the node that follows.
            let node = open.unwrap_or(self.nodes.len());
            self.places.insert(Operand::of(&inst), Place { node, order });
        }
        open.map(|_| ())
    }

    fn connect(&mut self, last_of: &HashMap<LLVMBasicBlockRef, usize>) {
        for i in 0..self.nodes.len() {
            let node = &self.nodes[i];
            let mut to = Vec::new();
            if last_of[&node.bb.as_mut_ptr()] != i {
                if !node.ends {
                    to.push(i + 1);
                }
            } else if let Some(t) = node.bb.get_terminator() {
                for s in ir::successors(t) {
                    let s = self.first_of[&s.as_mut_ptr()];
                    if !to.contains(&s) {
                        to.push(s);
                    }
                }
            }
            if self.nodes[i].ends {
                // The targets of an invoke (the normal one first), or of an indirect branch.
                let carries = self.nodes[i].carries;
                let jumps = self.nodes[i].last.get_opcode() == InstructionOpcode::IndirectBr;
                for (k, s) in to.into_iter().enumerate() {
                    self.nodes[s].fresh = true;
                    self.nodes[s].carried = carries && k == 0;
                    self.nodes[s].jumped = jumps;
                }
                continue;
            }
            for s in &to {
                self.nodes[*s].predecessors.push(i);
            }
            self.nodes[i].successors = to;
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
pub(crate) fn calling_blocks<'m>(
    plan: &FunctionPlan<'m>,
) -> Result<Vec<BasicBlock<'m>>, &'static str> {
    if plan.blocks.iter().any(|b| b.terminator.get_opcode() == InstructionOpcode::CallBr) {
        return Err("asm goto");
    }
    let calls = |b: &&BlockPlan<'m>| {
        b.terminator.get_opcode() == InstructionOpcode::IndirectBr
            || plan.pieces[b.pieces.clone()].iter().any(Piece::ends_with_call)
    };
    Ok(plan.blocks.iter().filter(calls).map(|b| b.bb).collect())
}
