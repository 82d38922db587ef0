//! OpenMP: work-sharing calls and the loops over their iterations.

use std::ffi::c_void;

use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::LLVMValueAsBasicBlock;
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

use super::shim::{contech_shim_loops, contech_shim_mark_workshares};

/// Marks the locations of OpenMP worksharing calls with the kind of work they share, where the compiler has not done
/// so (flang). Returns whether there were any. Once a tool listens, libomp warns on standard error about unmarked
/// locations.
pub(crate) fn mark_workshares(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_mark_workshares(module.as_mut_ptr()) != 0 }
}

/// What [`work_sharing_loops`] reports, in this order: the blocks it added; the blocks before loops over chunks; and
/// for each loop its beginning (the call that shares its iterations, and flags), the block before the loop, the
/// blocks that end an iteration, the blocks after the loop, and the loop's blocks.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LoopEvent<'m> {
    Begins(InstructionValue<'m>, u64),
    Preheader(BasicBlock<'m>),
    Latch(BasicBlock<'m>),
    Exit(BasicBlock<'m>),
    Member(BasicBlock<'m>),
    Chunks(BasicBlock<'m>),
    Added(BasicBlock<'m>),
    /// LLVM replaced the loop by this call, which sets or copies memory; the loop has no other events.
    Bulk(InstructionValue<'m>),
    /// The call shares iterations, but no loop over them is left.
    Unseen(InstructionValue<'m>),
}

/// Finds the loops over the iterations of work-sharing constructs in a defined function. Splits edges so that each
/// loop has blocks of its own before and after it, and so that an iteration ends in a block that branches only to the
/// loop's header.
pub(crate) fn work_sharing_loops<'m>(f: FunctionValue<'m>) -> Vec<LoopEvent<'m>> {
    unsafe extern "C" fn push(context: *mut c_void, what: u32, value: LLVMValueRef, flags: u64) {
        // SAFETY: `context` is the Vec passed below, which is alive during the call.
        let list = unsafe { &mut *context.cast::<Vec<(u32, LLVMValueRef, u64)>>() };
        list.push((what, value, flags));
    }
    let mut list: Vec<(u32, LLVMValueRef, u64)> = Vec::new();
    // SAFETY: the callers pass a function with a body, and `push` gets the list it expects.
    unsafe { contech_shim_loops(f.as_value_ref(), push, (&raw mut list).cast()) };
    let event = |(what, value, flags)| {
        if matches!(what, 0 | 7 | 8) {
            // SAFETY: with these numbers the shim visits a call.
            let call = unsafe { InstructionValue::new(value) };
            return Some(match what {
                0 => LoopEvent::Begins(call, flags),
                8 => LoopEvent::Unseen(call),
                _ => LoopEvent::Bulk(call),
            });
        }
        // SAFETY: with all other numbers the shim visits a block as a value.
        let block = unsafe { BasicBlock::new(LLVMValueAsBasicBlock(value)) }?;
        Some(match what {
            1 => LoopEvent::Preheader(block),
            2 => LoopEvent::Latch(block),
            3 => LoopEvent::Exit(block),
            4 => LoopEvent::Member(block),
            5 => LoopEvent::Chunks(block),
            _ => LoopEvent::Added(block),
        })
    };
    list.into_iter().filter_map(event).collect()
}
