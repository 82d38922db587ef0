//! What one function will record: its basic blocks, cut into pieces at boundary calls, with the
//! memory operations of each piece. Planning reads the function and changes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use contech_program::MemOp;
use contech_trace::abi::{ID_BYTES, MAX_RECORD};
use contech_trace::table::{
    BLOCK_CONTINUED, BLOCK_ENTRY, BLOCK_LANDING, BLOCK_LOOP_HEADER, BLOCK_RETURN,
};
use inkwell::basic_block::BasicBlock;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, PointerValue};

use crate::callee::{self, Call};
use crate::carry::{Carried, Carry};
use crate::graphs;
use crate::ir;
use crate::memop::{self, Effects, Value};
use crate::source::{Inlining, Line};

/// How often each reason for not recording something occurs.
pub(crate) type Unrecorded = BTreeMap<String, u64>;

/// A memory operation and the instruction that does it.
#[derive(Debug)]
pub(crate) struct PlannedOp<'m> {
    pub(crate) inst: InstructionValue<'m>,
    pub(crate) op: MemOp,
    pub(crate) values: Vec<Value>,
}

/// Why a piece ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// The terminator of its basic block, which is no call.
    Terminator,
    /// A boundary call; an invoke is also the terminator.
    Call { callee: String, line: Line },
    /// Its record would be too long.
    Full,
}

/// A part of a basic block that runs as a whole; it makes one record.
#[derive(Debug)]
pub(crate) struct Piece<'m> {
    /// First instruction that is neither a PHI nor a landing pad.
    pub(crate) start: InstructionValue<'m>,
    /// The record is complete before this instruction.
    pub(crate) last: InstructionValue<'m>,
    pub(crate) end: End,
    pub(crate) ops: Vec<PlannedOp<'m>>,
    /// The `BLOCK_*` bits of the table.
    pub(crate) flags: u8,
    pub(crate) line: Line,
    /// IR instructions of the program, without PHIs and hints.
    pub(crate) ir_ops: u32,
    /// The piece writes nothing: it is the rest of a basic block after a call, with only a branch
    /// or return in it, or a block that the pass added on an edge.
    pub(crate) silent: bool,
    /// The piece ends with a call that takes the cursor and hands it back (`carry`).
    pub(crate) carries: bool,
    pub(crate) entered: Entered,
    /// Its index in the module's table, if it is not silent.
    pub(crate) id: u32,
}

impl<'m> Piece<'m> {
    /// Where the cursor must be loaded from at the beginning, if it must: a slot, or else
    /// thread-local storage.
    pub(crate) fn found_in(&self, carried: Carried<'m>) -> Option<Option<PointerValue<'m>>> {
        match self.entered {
            Entered::Start => Some(carried.argument),
            Entered::Call => Some(None),
            Entered::Carried => Some(carried.slot),
            Entered::Branch | Entered::Jump => None,
        }
    }

    /// The slot where the next code looks for the cursor; `None` means thread-local storage. Only
    /// calls that take the cursor, and returns of functions that took it, use a slot.
    pub(crate) fn left_in(&self, carried: Carried<'m>) -> Option<PointerValue<'m>> {
        match self.last.get_opcode() {
            _ if self.carries => carried.slot,
            InstructionOpcode::Return => carried.argument,
            _ => None,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        if self.silent { 0 } else { operand_bytes(&self.ops) + ID_BYTES }
    }

    /// Whether the piece ends with a call after which the cursor is unknown.
    pub(crate) fn ends_with_call(&self) -> bool {
        matches!(self.end, End::Call { .. })
    }
}

/// How control enters a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entered {
    /// It is the function's first.
    Start,
    /// Branches lead to it, or the piece before, and the cursor is known.
    Branch,
    /// A call is before it, and the cursor is in thread-local storage.
    Call,
    /// A call that hands the cursor back is before it.
    Carried,
    /// An indirect branch leads to it, and the cursor is known, but nothing else.
    Jump,
}

#[derive(Debug)]
pub(crate) struct BlockPlan<'m> {
    pub(crate) bb: BasicBlock<'m>,
    pub(crate) terminator: InstructionValue<'m>,
    /// The block's pieces, as a range of [`FunctionPlan::pieces`].
    pub(crate) pieces: Range<usize>,
    /// Indices into [`FunctionPlan::blocks`].
    pub(crate) successors: Vec<usize>,
}

/// A function; its blocks are in reverse post-order from the entry.
#[derive(Debug, Default)]
pub(crate) struct FunctionPlan<'m> {
    pub(crate) blocks: Vec<BlockPlan<'m>>,
    pub(crate) pieces: Vec<Piece<'m>>,
    pub(crate) unrecorded: Unrecorded,
}

/// A function that is ready to be cut: what the program has of it, and what calls in it do.
#[derive(Debug)]
pub(crate) struct Prepared<'m> {
    pub(crate) blocks: HashSet<BasicBlock<'m>>,
    pub(crate) instructions: HashSet<InstructionValue<'m>>,
    pub(crate) effects: Effects<'m>,
}

/// Gives every normal edge of an invoke a target block of its own, where the cursor can be read
/// back.
pub(crate) fn separate_invoke_edges(f: FunctionValue<'_>) {
    let mut predecessors: HashMap<BasicBlock<'_>, usize> = HashMap::new();
    for block in f.get_basic_block_iter() {
        for target in block.get_terminator().map(ir::successors).unwrap_or_default() {
            *predecessors.entry(target).or_default() += 1;
        }
    }
    for block in f.get_basic_blocks() {
        let invoke = block.get_terminator().filter(|t| t.get_opcode() == InstructionOpcode::Invoke);
        if let Some(normal) = invoke.and_then(|invoke| ir::successors(invoke).first().copied())
            && predecessors.get(&normal).copied().unwrap_or(0) > 1
        {
            ir::split_edge(block, normal);
        }
    }
}

/// Whether a call ends its piece.
pub(crate) fn ends_piece(inst: InstructionValue<'_>, call: &Call) -> bool {
    match inst.get_opcode() {
        InstructionOpcode::Call => call.boundary().is_some(),
        // An invoke can unwind, whatever it calls.
        opcode => opcode == InstructionOpcode::Invoke,
    }
}

impl<'m> FunctionPlan<'m> {
    /// Cuts the blocks of a function into pieces; `carry` takes the cursor through calls.
    pub(crate) fn new(
        module: &Module<'m>,
        f: FunctionValue<'m>,
        prepared: &Prepared<'m>,
        carry: &Carry<'m>,
        inlining: &mut Inlining,
    ) -> Self {
        let order = reverse_post_order(f);
        let index: HashMap<_, _> = order.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let (pieces, unrecorded) = (Vec::new(), Unrecorded::new());
        let mut cutter = Cutter { module, pieces, unrecorded, prepared, inlining, open: None };
        let mut plan = FunctionPlan::default();
        let mut entered = vec![Entered::Branch; order.len()];
        for bb in order {
            let terminator = bb.get_terminator().expect("a basic block has a terminator");
            let first = plan.pieces.len();
            plan.pieces.extend(cutter.cut(bb));
            let targets = ir::successors(terminator);
            let successors: Vec<_> = targets.iter().filter_map(|s| index.get(s).copied()).collect();
            let mut after = Entered::Branch;
            for piece in &mut plan.pieces[first..] {
                piece.entered = after;
                piece.carries = piece.ends_with_call() && carry.is_taken_by(piece.last);
                after = match piece.ends_with_call() {
                    true if piece.carries => Entered::Carried,
                    true => Entered::Call,
                    false => Entered::Branch,
                };
            }
            for (k, s) in successors.iter().enumerate() {
                match terminator.get_opcode() {
                    InstructionOpcode::Invoke if k == 0 => entered[*s] = after,
                    InstructionOpcode::Invoke => entered[*s] = Entered::Call,
                    InstructionOpcode::IndirectBr => entered[*s] = Entered::Jump,
                    _ => {}
                }
            }
            plan.blocks.push(BlockPlan {
                bb,
                terminator,
                pieces: first..plan.pieces.len(),
                successors,
            });
        }
        for (i, (block, entered)) in plan.blocks.iter().zip(entered).enumerate() {
            plan.pieces[block.pieces.start].entered = entered;
            for s in block.successors.iter().filter(|s| **s <= i) {
                plan.pieces[plan.blocks[*s].pieces.start].flags |= BLOCK_LOOP_HEADER;
            }
        }
        plan.unrecorded = cutter.unrecorded;
        if let Some(first) = plan.pieces.first_mut() {
            first.entered = Entered::Start;
            first.flags |= BLOCK_ENTRY;
            // A check before the static allocas would split them from the entry block's head, which
            // would make them dynamic.
            while first.start.get_opcode() == InstructionOpcode::Alloca
                && first.start != first.last
                && let Some(next) = first.start.get_next_instruction()
            {
                first.start = next;
            }
        }
        plan
    }
}

/// The blocks reachable from the entry, in reverse post-order.
pub(crate) fn reverse_post_order<'m>(f: FunctionValue<'m>) -> Vec<BasicBlock<'m>> {
    let targets = |b: BasicBlock<'m>| b.get_terminator().map(ir::successors).unwrap_or_default();
    graphs::reverse_post_order(f.get_first_basic_block(), targets)
}

fn operand_bytes(ops: &[PlannedOp<'_>]) -> usize {
    ops.iter().map(|o| o.op.record_bytes()).sum()
}

/// Cuts basic blocks into pieces.
struct Cutter<'a, 'm> {
    module: &'a Module<'m>,
    /// The pieces of the block so far.
    pieces: Vec<Piece<'m>>,
    unrecorded: Unrecorded,
    prepared: &'a Prepared<'m>,
    inlining: &'a mut Inlining,
    open: Option<Piece<'m>>,
}

impl<'m> Cutter<'_, 'm> {
    fn cut(&mut self, block: BasicBlock<'m>) -> Vec<Piece<'m>> {
        let mut flags = 0;
        for inst in block.get_instructions() {
            match inst.get_opcode() {
                InstructionOpcode::Phi => {}
                InstructionOpcode::LandingPad => flags |= BLOCK_LANDING,
                _ => flags = self.take(inst, flags),
            }
        }
        let mut pieces = std::mem::take(&mut self.pieces);
        // The pass has put the block on an edge.
        if !self.prepared.blocks.contains(&block) {
            pieces.iter_mut().for_each(|piece| piece.silent = piece.ops.is_empty());
        }
        pieces
    }

    /// Takes the next instruction into the open piece. Returns the flags of a piece that is opened
    /// after it.
    fn take(&mut self, inst: InstructionValue<'m>, flags: u8) -> u8 {
        let opcode = inst.get_opcode();
        let call = matches!(
            opcode,
            InstructionOpcode::Call | InstructionOpcode::Invoke | InstructionOpcode::CallBr
        )
        .then(|| callee::classify(inst));
        let own = self.prepared.instructions.contains(&inst);
        let effect = match (&call, self.prepared.effects.get(&inst)) {
            (_, Some(effect)) => effect.clone(),
            // What ours read is no access of the program.
            _ if !own => Ok(Vec::new()),
            (Some(call), None) => memop::of_call(self.module, inst, call),
            (None, None) => memop::of_instruction(self.module, inst),
        };
        let mut flags = flags;
        if let Ok(ops) = &effect
            && !ops.is_empty()
            && let Some(open) = &self.open
            && operand_bytes(&open.ops)
                + ops.iter().map(|(op, _)| op.record_bytes()).sum::<usize>()
                + ID_BYTES
                > MAX_RECORD
        {
            self.close(inst, End::Full);
            flags = BLOCK_CONTINUED;
        }
        let piece = self.open.get_or_insert_with(|| open(inst, flags));
        if !matches!(call, Some(Call::Nothing)) && own {
            piece.ir_ops += 1;
            if piece.line.number == 0 {
                piece.line = self.inlining.line(inst);
            }
        }
        match effect {
            Ok(ops) if ops.is_empty() => {}
            Ok(ops) => {
                let line = self.inlining.line(inst);
                piece.ops.extend(ops.into_iter().map(|(op, values)| {
                    let op = MemOp { line: line.number, inlined: line.inlined, ..op };
                    PlannedOp { inst, op, values }
                }))
            }
            Err(reason) => *self.unrecorded.entry(reason).or_default() += 1,
        }
        if let Some(call) = call.as_ref().filter(|call| ends_piece(inst, call)) {
            let callee = call.boundary().unwrap_or_default().to_owned();
            let line = self.inlining.line(inst);
            self.close(inst, End::Call { callee, line });
            return BLOCK_CONTINUED;
        }
        if inst.is_terminator() {
            self.close(inst, End::Terminator);
        }
        flags
    }

    fn close(&mut self, last: InstructionValue<'m>, end: End) {
        let Some(mut piece) = self.open.take() else {
            return;
        };
        piece.last = last;
        piece.end = end;
        let returns = last.get_opcode() == InstructionOpcode::Return;
        if piece.end == End::Terminator && piece.flags & BLOCK_CONTINUED != 0 {
            piece.silent = piece.ir_ops == 1 && piece.ops.is_empty();
        }
        if returns {
            // In `call; ret` the call's piece carries the flag, and nothing is written after the
            // call.
            let silent = u32::from(piece.silent);
            let owner = if piece.silent { self.pieces.last_mut() } else { Some(&mut piece) };
            if let Some(owner) = owner {
                owner.flags |= BLOCK_RETURN;
                // The return would count as an instruction if it had a block of its own, and
                // whether it has one depends on the form.
                owner.ir_ops += silent;
            }
        }
        self.pieces.push(piece);
    }
}

fn open(inst: InstructionValue<'_>, flags: u8) -> Piece<'_> {
    Piece {
        start: inst,
        last: inst,
        end: End::Terminator,
        ops: Vec::new(),
        flags,
        line: Line::default(),
        ir_ops: 0,
        silent: false,
        carries: false,
        entered: Entered::Branch,
        id: 0,
    }
}
