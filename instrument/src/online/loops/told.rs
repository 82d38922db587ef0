//! How each loop reports its iterations, which is decided before the blocks of its function get their code.

use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue, PointerValue};
use workspan::abi;

use super::{Loop, Loops};
use crate::ir;
use crate::online::{Emitter, variable};
use crate::plan::{End, FunctionPlan};

/// How a loop reports its iterations.
#[derive(Debug)]
pub(super) enum Told<'m> {
    /// Each iteration makes a call.
    Calls,
    /// All iterations are reported at once: they became this call.
    Bulk(InstructionValue<'m>),
    /// All iterations are reported at once, and each has this many operations.
    Alike(u64),
    /// All iterations are reported at once, from these counters, which are allocas until the end.
    Registers {
        start: PointerValue<'m>,
        longest: PointerValue<'m>,
        count: PointerValue<'m>,
    },
}

#[derive(Debug)]
pub(super) struct Ready<'a, 'm> {
    pub(super) of: &'a Loop<'m>,
    /// The instruction before which the loop's code goes.
    pub(super) before: InstructionValue<'m>,
    pub(super) variable: PointerValue<'m>,
    pub(super) flags: u64,
    pub(super) told: Told<'m>,
}

/// What the loops of a function need to emit their code.
#[derive(Debug)]
pub(in crate::online) struct Registers<'a, 'm> {
    pub(super) ready: Vec<Ready<'a, 'm>>,
    pub(super) chunks: &'a [BasicBlock<'m>],
}

impl Registers<'_, '_> {
    /// Turns the allocas into SSA registers.
    pub(in crate::online) fn promote(&self) {
        for of in &self.ready {
            if let Told::Registers {
                start,
                longest,
                count,
            } = of.told
            {
                [start, longest, count].into_iter().for_each(ir::promote);
            }
        }
    }
}

/// The operations of one pass through the loop, if there is only one way through it.
fn alike(of: &Loop<'_>, plan: &FunctionPlan<'_>) -> Option<u64> {
    let &[latch] = of.latches.as_slice() else {
        return None;
    };
    let mut operations = 0;
    for block in &plan.blocks {
        let Some(at) = block.terminator.get_parent() else {
            continue;
        };
        if !of.members.contains(&at) {
            continue;
        }
        if at != latch && ir::successors(block.terminator).len() != 1 {
            return None;
        }
        let pieces = plan.pieces[block.pieces.clone()].iter();
        operations += pieces
            .filter(|piece| !piece.silent)
            .map(|piece| u64::from(piece.ir_ops))
            .sum::<u64>();
    }
    (operations > 0).then_some(operations)
}

impl<'m> Emitter<'m> {
    /// Prepares the function's loops; `first` is the function's first instruction.
    pub(in crate::online) fn loops<'a>(
        &self,
        module: &Module<'m>,
        f: FunctionValue<'m>,
        first: &InstructionValue<'m>,
        plan: &FunctionPlan<'m>,
        loops: &'a Loops<'m>,
    ) -> Result<Registers<'a, 'm>, BuilderError> {
        let calls = |of: &Loop<'m>| {
            plan.blocks.iter().any(|block| {
                let within = block.terminator.get_parent();
                within.is_some_and(|at| of.members.contains(&at))
                    && plan.pieces[block.pieces.clone()]
                        .iter()
                        .any(|piece| matches!(piece.end, End::Call { .. }))
            })
        };
        let calling: Vec<bool> = loops.all.iter().map(calls).collect();
        let mut ready = Vec::new();
        let mut known: Vec<(InstructionValue<'m>, PointerValue<'m>)> = Vec::new();
        for (of, &calls) in loops.all.iter().zip(&calling) {
            let end = of.preheader.and_then(|block| block.get_terminator());
            let Some(before) = of.bulk.or(end) else {
                continue;
            };
            let Some(at) = before.get_parent() else {
                continue;
            };
            let around = loops.all.iter().zip(&calling);
            let depth = around
                .filter(|(outer, calls)| **calls && outer.members.contains(&at))
                .count() as u64;
            if depth >= abi::LOOPS_DEEP {
                continue;
            }
            let told = if let Some(call) = of.bulk {
                Told::Bulk(call)
            } else if calls {
                Told::Calls
            } else if let Some(operations) = alike(of, plan) {
                Told::Alike(operations)
            } else {
                self.builder.position_before(first);
                let register = |name| self.builder.build_alloca(self.word, name);
                Told::Registers {
                    start: register("contech.start")?,
                    longest: register("contech.longest")?,
                    count: register("contech.count")?,
                }
            };
            // The copies that LLVM made of one source loop have the same call that shares their iterations.
            let variable = match known.iter().find(|(shares, _)| *shares == of.shares) {
                Some((_, variable)) => *variable,
                None => variable(module, f),
            };
            known.push((of.shares, variable));
            ready.push(Ready {
                of,
                before,
                variable,
                flags: of.flags
                    | if calls { abi::LOOP_CALLS } else { 0 }
                    | depth << abi::LOOP_DEPTH,
                told,
            });
        }
        Ok(Registers {
            ready,
            chunks: &loops.chunks,
        })
    }
}
