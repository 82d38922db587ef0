//! The segment graph of a function: the pieces of its plan, and the blocks that loop simplification
//! added.

use std::collections::{HashMap, HashSet};

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::prelude::LLVMBasicBlockRef;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};

use super::scev::{Analysis, Kill, LoopFacts, Val};
use crate::ir;
use crate::plan::{FunctionPlan, reverse_post_order};

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
    pub(crate) loops: Vec<LoopFacts<'m>>,
    /// The header node of each loop, and the node at the end of its preheader.
    pub(crate) headers: Vec<usize>,
    pub(crate) preheaders: Vec<Option<usize>>,
    /// For each node: the loop whose header it is, and the loops whose preheader it ends.
    pub(crate) header_of: Vec<Option<usize>>,
    pub(crate) before: Vec<Vec<usize>>,
    /// The nodes of each loop, ascending.
    pub(crate) members: Vec<Vec<usize>>,
    places: HashMap<Val, Place>,
    first_of: HashMap<BasicBlock<'m>, usize>,
    first_of_raw: HashMap<LLVMBasicBlockRef, usize>,
}

impl<'m> Graph<'m> {
    /// Builds the graph of a function whose first block has index `first_block` in the module.
    pub(crate) fn build(
        f: FunctionValue<'m>,
        plan: &FunctionPlan<'m>,
        analysis: &Analysis<'m>,
        first_block: u32,
    ) -> Option<Self> {
        let order = reverse_post_order(f);
        let pieces = Pieces::new(plan, first_block);
        let mut graph = Graph {
            nodes: Vec::new(),
            loops: analysis.loops(),
            headers: Vec::new(),
            preheaders: Vec::new(),
            header_of: Vec::new(),
            before: Vec::new(),
            members: Vec::new(),
            places: HashMap::new(),
            first_of: HashMap::new(),
            first_of_raw: HashMap::new(),
        };
        let mut last_of = HashMap::new();
        for bb in &order {
            let first = graph.nodes.len();
            graph.first_of.insert(*bb, first);
            graph.first_of_raw.insert(bb.as_mut_ptr(), first);
            graph.block(*bb, plan, &pieces, analysis.loop_of(*bb))?;
            last_of.insert(*bb, graph.nodes.len() - 1);
        }
        graph.nodes.first_mut()?.fresh = true;
        graph.connect(&last_of);
        for i in 0..graph.loops.len() {
            let facts = &graph.loops[i];
            graph.headers.push(*graph.first_of.get(&facts.header)?);
            let preheader = facts.preheader.and_then(|p| last_of.get(&p).copied());
            graph.preheaders.push(preheader);
        }
        graph.settle_loops();
        Some(graph)
    }

    /// Adds the nodes of a basic block.
    fn block(
        &mut self,
        bb: BasicBlock<'m>,
        plan: &FunctionPlan<'m>,
        pieces: &Pieces<'m>,
        in_loop: Option<usize>,
    ) -> Option<()> {
        let range = pieces.of.get(&bb).cloned();
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
                    let piece = range.as_ref().map(|_| next);
                    let mut node = self.node(bb, piece, inst, terminator, plan, pieces, after_call);
                    node.carried = after_call && plan.pieces[next - 1].carries;
                    after_call = piece.is_some_and(|p| plan.pieces[p].ends_with_call());
                    next += 1;
                    open = Some(self.nodes.len());
                    self.nodes.push(Node { in_loop, first_order: order, ..node });
                }
            }
            // PHIs and pads belong to the node that follows.
            let node = open.unwrap_or(self.nodes.len());
            self.places.insert(Val::of(&inst), Place { node, order });
        }
        open.map(|_| ())
    }

    #[expect(clippy::too_many_arguments, reason = "one caller")]
    fn node(
        &self,
        bb: BasicBlock<'m>,
        piece: Option<usize>,
        first: InstructionValue<'m>,
        terminator: InstructionValue<'m>,
        plan: &FunctionPlan<'m>,
        pieces: &Pieces<'m>,
        after_call: bool,
    ) -> Node<'m> {
        let planned = piece.map(|p| &plan.pieces[p]);
        let last = planned.map_or(terminator, |p| p.last);
        let leaves = last == terminator
            && matches!(
                last.get_opcode(),
                InstructionOpcode::Return
                    | InstructionOpcode::Resume
                    | InstructionOpcode::Unreachable
            );
        let jumps = last == terminator && last.get_opcode() == InstructionOpcode::IndirectBr;
        let ends = leaves || jumps || planned.is_some_and(crate::plan::Piece::ends_with_call);
        let silent = planned.is_none_or(|p| p.silent);
        Node {
            bb,
            piece,
            block: piece.and_then(|p| pieces.block[p]),
            first,
            first_order: 0,
            last,
            fresh: after_call,
            jumped: false,
            carried: false,
            carries: planned.is_some_and(|p| p.carries),
            ends,
            dead: silent && leaves && after_call,
            successors: Vec::new(),
            predecessors: Vec::new(),
            in_loop: None,
            depth: 0,
        }
    }

    fn connect(&mut self, last_of: &HashMap<BasicBlock<'m>, usize>) {
        for i in 0..self.nodes.len() {
            let node = &self.nodes[i];
            let mut to = Vec::new();
            if last_of[&node.bb] != i {
                if !node.ends {
                    to.push(i + 1);
                }
            } else if let Some(t) = node.bb.get_terminator() {
                for s in ir::successors(t) {
                    let s = self.first_of[&s];
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

    fn settle_loops(&mut self) {
        self.members = vec![Vec::new(); self.loops.len()];
        self.header_of = vec![None; self.nodes.len()];
        self.before = vec![Vec::new(); self.nodes.len()];
        for l in 0..self.loops.len() {
            self.header_of[self.headers[l]] = Some(l);
            if let Some(p) = self.preheaders[l] {
                self.before[p].push(l);
            }
        }
        for n in 0..self.nodes.len() {
            let mut at = self.nodes[n].in_loop;
            while let Some(l) = at {
                self.members[l].push(n);
                self.nodes[n].depth += 1;
                at = self.loops[l].parent;
            }
        }
    }

    pub(crate) fn contains(&self, l: usize, node: usize) -> bool {
        self.members[l].binary_search(&node).is_ok()
    }

    /// Whether iterations of the loop are counted.
    pub(crate) fn tracked(&self, l: usize) -> bool {
        self.preheaders[l].is_some()
    }

    /// Where a value is defined; `None` for arguments and constants.
    pub(crate) fn place(&self, v: Val) -> Option<Place> {
        self.places.get(&v).copied()
    }

    /// The node at which a leaf is forgotten.
    pub(crate) fn killed_at(&self, kill: Kill) -> Option<usize> {
        match kill {
            Kill::Instruction(v) => self.place(v).map(|p| p.node),
            Kill::Block(b) => self.first_of_raw.get(&b).copied(),
        }
    }
}

/// Pieces by basic block, and their numbers in the module.
struct Pieces<'m> {
    of: HashMap<BasicBlock<'m>, std::ops::Range<usize>>,
    block: Vec<Option<u32>>,
}

impl<'m> Pieces<'m> {
    fn new(plan: &FunctionPlan<'m>, first_block: u32) -> Self {
        let mut of = HashMap::new();
        for b in &plan.blocks {
            if let Some(bb) = b.terminator.get_parent() {
                of.insert(bb, b.pieces.clone());
            }
        }
        let mut next = first_block;
        let block = plan.pieces.iter().map(|p| {
            (!p.silent).then(|| {
                next += 1;
                next - 1
            })
        });
        Pieces { block: block.collect(), of }
    }
}

/// The basic blocks that contain boundary calls or indirect branches, and whether something forbids
/// the fast form.
pub(crate) fn calling_blocks<'m>(
    plan: &FunctionPlan<'m>,
) -> Result<Vec<BasicBlock<'m>>, &'static str> {
    let mut calling = HashSet::new();
    for b in &plan.blocks {
        match b.terminator.get_opcode() {
            InstructionOpcode::IndirectBr => calling.extend(b.terminator.get_parent()),
            InstructionOpcode::CallBr => return Err("asm goto"),
            _ => {}
        }
        if plan.pieces[b.pieces.clone()].iter().any(crate::plan::Piece::ends_with_call) {
            calling.extend(b.terminator.get_parent());
        }
    }
    Ok(calling.into_iter().collect())
}
