//! Atomic operations and fences.

use std::collections::HashSet;
use std::ffi::{c_int, c_void};

use inkwell::llvm_sys::LLVMAtomicOrdering;
use inkwell::llvm_sys::core::{LLVMGetOrdering, LLVMGetVolatile};
use inkwell::llvm_sys::prelude::LLVMValueRef;
use inkwell::module::Module;
use inkwell::values::{AsValueRef, FunctionValue, InstructionValue};

use super::shim::{
    contech_shim_has_fence, contech_shim_is_speculated, contech_shim_mark_waits,
    contech_shim_wrap_atomics,
};

/// Whether the module has a fence between threads.
pub(crate) fn has_fence(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_has_fence(module.as_mut_ptr()) != 0 }
}

/// Puts the atomic operations of a defined function between calls of the first two functions, or a
/// call of the third after a load, and a call of the last after its fences. Operations of relaxed
/// order are included if `relaxed` asks for them. Returns the added calls.
pub(crate) fn wrap_atomics<'m>(
    f: FunctionValue<'m>,
    relaxed: bool,
    [begin, end, loaded, fence]: [FunctionValue<'m>; 4],
) -> HashSet<InstructionValue<'m>> {
    let mut list: Vec<LLVMValueRef> = Vec::new();
    // SAFETY: the callers pass a function with a body and four functions of its module with the
    // types of the contract; `push` gets the list it expects.
    unsafe {
        contech_shim_wrap_atomics(
            f.as_value_ref(),
            c_int::from(relaxed),
            begin.as_value_ref(),
            end.as_value_ref(),
            loaded.as_value_ref(),
            fence.as_value_ref(),
            push,
            (&raw mut list).cast(),
        );
    }
    instructions(list)
}

/// Puts a call of `turn` at the end of each turn of the loops of a defined function that only wait,
/// and that would not be recorded as a whole. Returns the added calls.
pub(crate) fn mark_waits<'m>(
    f: FunctionValue<'m>,
    turn: FunctionValue<'m>,
) -> HashSet<InstructionValue<'m>> {
    let mut list: Vec<LLVMValueRef> = Vec::new();
    // SAFETY: the callers pass a function with a body and one of its module without arguments;
    // `push` gets the list it expects.
    unsafe {
        contech_shim_mark_waits(
            f.as_value_ref(),
            turn.as_value_ref(),
            push,
            (&raw mut list).cast(),
        );
    }
    instructions(list)
}

unsafe extern "C" fn push(context: *mut c_void, inst: LLVMValueRef) {
    // SAFETY: `context` is the caller's Vec, which is alive during the call.
    let list = unsafe { &mut *context.cast::<Vec<LLVMValueRef>>() };
    list.push(inst);
}

fn instructions<'m>(list: Vec<LLVMValueRef>) -> HashSet<InstructionValue<'m>> {
    // SAFETY: the shim visits only instructions.
    let instruction = |i| unsafe { InstructionValue::new(i) };
    list.into_iter().map(instruction).collect()
}

/// Whether a load, store or other memory instruction is atomic.
pub(crate) fn is_atomic(inst: InstructionValue<'_>) -> bool {
    // SAFETY: the callers pass only memory instructions.
    let ordering = unsafe { LLVMGetOrdering(inst.as_value_ref()) };
    !matches!(ordering, LLVMAtomicOrdering::LLVMAtomicOrderingNotAtomic)
}

/// Whether the compiler made a load or store where the source may not make it.
pub(crate) fn is_speculated(access: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live.
    unsafe { contech_shim_is_speculated(access.as_value_ref()) != 0 }
}

/// Whether a load, store, atomicrmw or cmpxchg is volatile.
pub(crate) fn is_volatile(inst: InstructionValue<'_>) -> bool {
    // SAFETY: the callers pass one of these four.
    unsafe { LLVMGetVolatile(inst.as_value_ref()) != 0 }
}
