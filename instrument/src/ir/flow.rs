//! Control flow: edges between blocks, new blocks, and registers for slots.

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::{
    LLVMGetNormalDest, LLVMGetNumSuccessors, LLVMGetSuccessor, LLVMGetUnwindDest,
};
use inkwell::values::{AsValueRef, InstructionValue, IntValue, PointerValue};

use super::shim::{contech_shim_promote, contech_shim_split_edge, contech_shim_split_unlikely};

/// The successors of a terminator, duplicates included.
pub(crate) fn successors<'m>(terminator: InstructionValue<'m>) -> Vec<BasicBlock<'m>> {
    // SAFETY: the callers pass terminators, the indices are below the count, and successors are
    // blocks.
    unsafe {
        let t = terminator.as_value_ref();
        (0..LLVMGetNumSuccessors(t))
            .filter_map(|i| BasicBlock::new(LLVMGetSuccessor(t, i)))
            .collect()
    }
}

/// The normal and the unwind destination of an invoke.
pub(crate) fn invoke_targets<'m>(
    invoke: InstructionValue<'m>,
) -> Option<(BasicBlock<'m>, BasicBlock<'m>)> {
    // SAFETY: the callers pass invoke instructions, which have both.
    unsafe {
        let normal = BasicBlock::new(LLVMGetNormalDest(invoke.as_value_ref()))?;
        let unwind = BasicBlock::new(LLVMGetUnwindDest(invoke.as_value_ref()))?;
        Some((normal, unwind))
    }
}

/// Puts an empty block on the edge.
pub(crate) fn split_edge<'m>(from: BasicBlock<'m>, to: BasicBlock<'m>) -> Option<BasicBlock<'m>> {
    // SAFETY: the callers pass an existing edge whose target is no exception pad.
    unsafe { BasicBlock::new(contech_shim_split_edge(from.as_mut_ptr(), to.as_mut_ptr())) }
}

/// Splits the block after `condition` (an instruction). The returned terminator ends a new block
/// that runs when the condition is true, and the branch to it is marked unlikely.
pub(crate) fn split_unlikely<'m>(condition: IntValue<'m>) -> InstructionValue<'m> {
    // SAFETY: the callers pass the result of a compare instruction that is not last in its block;
    // the shim returns a branch.
    unsafe { InstructionValue::new(contech_shim_split_unlikely(condition.as_value_ref())) }
}

/// Turns the alloca into SSA registers; only loads and stores may use it.
pub(crate) fn promote(alloca: PointerValue<'_>) {
    // SAFETY: the callers pass an alloca that only loads and stores of its own type use.
    unsafe { contech_shim_promote(alloca.as_value_ref()) }
}
