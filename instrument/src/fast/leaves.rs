//! Which leaves are recorded where, and the expression of every operand over them.
//!
//! One pass in reverse post-order carries the set of slots that hold the current value of their
//! leaf on every path. The set is empty after a boundary call; at a loop header without boundary
//! calls it is the preheader's set without the slots that the loop redefines. An operand takes the
//! alternative with the lowest expected cost: a slot that differs from it by a constant, its
//! expression with the leaves that are missing, or its own address as a leaf. Leaves that are
//! invariant in loops without boundary calls are recorded before the outermost of these loops.
//!
//! What is cheapest for an operand may not be for those after it: an address in an array is cheaper
//! than array and index, which serve the next access, too. So operands share the cost of a leaf
//! with those that could use it, too.

mod chooser;
mod facts;

use std::collections::HashMap;

use contech_program::path::Expr;
use contech_trace::abi::{ADDRESS_BYTES, MASK_BYTES};
use inkwell::values::{InstructionValue, PointerValue};

use self::chooser::Chooser;
use self::facts::Facts;
use super::collapse::Shape;
use super::graph::Graph;
use super::scev::Analysis;
use super::{Operands, index};
use crate::ir::Operand;
use crate::memop::Value;
use crate::plan::Piece;

/// A function with more leaf bytes in one node stays in the naive form.
pub(crate) const MAX_NODE_BYTES: usize = 3500;

/// A leaf recorded in a node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record {
    pub(crate) slot: u32,
    pub(crate) source: Value,
    pub(crate) width: u8,
    /// The leaf is written behind this instruction, or else at the beginning of the node.
    pub(crate) after: Option<Operand>,
    /// Position in the basic block before which it is not known.
    order: u32,
}

impl Record {
    /// An operand of the naive form, which is written in front of its instruction.
    pub(crate) fn naive(piece: &Piece<'_>, inst: InstructionValue<'_>, source: Value) -> Self {
        let before = inst.get_previous_instruction().filter(|_| inst != piece.start);
        let bytes = if matches!(source, Value::Mask(_)) { MASK_BYTES } else { ADDRESS_BYTES };
        let width = u8::try_from(bytes).expect("a small constant");
        Record { slot: 0, source, width, after: before.map(|i| Operand::of(&i)), order: 0 }
    }
}

/// What the pass chose.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    pub(crate) slots: u32,
    /// For each node, in execution order.
    pub(crate) records: Vec<Vec<Record>>,
    /// For each node, one per operand.
    pub(crate) operands: Vec<Vec<Expr>>,
    /// For each loop: the count of a collapsed loop, if it is computed.
    pub(crate) counts: Vec<Option<Expr>>,
}

/// The globals of the module that expressions name.
#[derive(Debug, Default)]
pub(crate) struct Globals<'m> {
    pub(crate) list: Vec<PointerValue<'m>>,
    index: HashMap<Operand, u32>,
}

impl Globals<'_> {
    fn index(&mut self, v: Operand) -> u32 {
        *self.index.entry(v).or_insert_with(|| {
            self.list.push(v.basic().into_pointer_value());
            index(self.list.len() - 1)
        })
    }
}

/// Runs the pass.
pub(crate) fn choose<'m>(
    graph: &Graph,
    analysis: &Analysis<'m>,
    shapes: &[Shape],
    operands: &[Operands],
    globals: &mut Globals<'m>,
) -> Choice {
    let mut chooser = Chooser::new(graph, Facts::new(analysis), operands, globals);
    let mut counts = vec![None; graph.loops.len()];
    let mut chosen = Vec::with_capacity(operands.len());
    for (node, operands) in operands.iter().enumerate() {
        chooser.enter(node);
        let forced = chooser.inside_free_loop(shapes, node);
        let exprs = operands.iter();
        let exprs = exprs.map(|(sym, address)| chooser.operand(node, sym, *address, forced));
        chosen.push(exprs.collect::<Vec<Expr>>());
        for l in &graph.before[node] {
            if let Some(sym) = shapes[*l].as_ref().ok().and_then(|c| c.count.as_ref()) {
                counts[*l] = Some(chooser.expression(node, sym));
            }
        }
        chooser.leave(node);
    }
    let (slots, records) = chooser.finish();
    Choice { slots, records, operands: chosen, counts }
}
