//! Functions: their names and attributes, their control flow, and changes of a whole function.

use std::collections::HashMap;
use std::ffi::c_int;

use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::basic_block::BasicBlock;
use inkwell::llvm_sys::core::{LLVMGetNumSuccessors, LLVMGetSuccessor};
use inkwell::llvm_sys::prelude::LLVMMetadataRef;
use inkwell::module::Module;
use inkwell::values::{
    AsValueRef, CallSiteValue, FunctionValue, InstructionValue, IntValue, PointerValue,
};

use super::calls::text;
use super::shim::{
    RawCarried, contech_shim_carry, contech_shim_fold_tail_returns, contech_shim_function_of,
    contech_shim_has_fence, contech_shim_hoist_allocas, contech_shim_is_library_function,
    contech_shim_is_speculated, contech_shim_mark_waits, contech_shim_promote,
    contech_shim_split_edge, contech_shim_split_unlikely, contech_shim_wrap_atomics,
};

pub(crate) fn name(f: FunctionValue<'_>) -> String {
    f.get_name().to_string_lossy().into_owned()
}

/// The function's name in the source: without what [`carry`] appends to that of a function with the
/// body.
pub(crate) fn source_name(f: FunctionValue<'_>) -> String {
    let name = name(f);
    name.strip_suffix(".carried").unwrap_or(&name).to_owned()
}

/// The function that a scope of the source (a live one of an instruction) is in, by its name for
/// the linker or, if it has none, its own.
pub(crate) fn function_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: the scope is live, and the text lives as long.
    unsafe { text(|n| contech_shim_function_of(scope, n)) }
}

/// The instructions of a function, which may be changed behind the one that was returned last.
pub(crate) fn instructions<'m>(f: FunctionValue<'m>) -> impl Iterator<Item = InstructionValue<'m>> {
    f.get_basic_block_iter().flat_map(|block| block.get_instructions())
}

pub(crate) fn has_attribute(f: FunctionValue<'_>, name: &str) -> bool {
    let kind = Attribute::get_named_enum_kind_id(name);
    f.get_enum_attribute(AttributeLoc::Function, kind).is_some()
}

pub(crate) fn add_attributes(module: &Module<'_>, f: FunctionValue<'_>, names: &[&str]) {
    for name in names {
        let kind = Attribute::get_named_enum_kind_id(name);
        let attribute = module.get_context().create_enum_attribute(kind, 0);
        f.add_attribute(AttributeLoc::Function, attribute);
    }
}

/// The attributes of functions and calls that recording makes untrue.
const UNTRUE: [&str; 3] = ["memory", "speculatable", "nosync"];

/// Drops attributes of the function that no longer hold when it records.
pub(crate) fn drop_function_attributes(f: FunctionValue<'_>) {
    for name in UNTRUE {
        f.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
}

/// Drops attributes of the call that no longer hold when the callee records.
pub(crate) fn drop_call_attributes(call: InstructionValue<'_>) {
    // SAFETY: `call` is a call instruction, by the callers' contract.
    let call = unsafe { CallSiteValue::new(call.as_value_ref()) };
    for name in UNTRUE {
        call.remove_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(name));
    }
}

/// Whether this is the C library's function of its name, prototype included.
pub(crate) fn is_library_function(f: FunctionValue<'_>) -> bool {
    // SAFETY: a FunctionValue is a live function.
    unsafe { contech_shim_is_library_function(f.as_value_ref()) != 0 }
}

/// Makes the functions take the cursor that can, and lets their callers hand it to them. Puts the
/// functions that now have the bodies into `chosen`, and returns for each its slot and whether it
/// takes the cursor. `at` is the thread-local cursor.
pub(crate) fn carry<'m>(
    module: &Module<'m>,
    chosen: &mut [FunctionValue<'m>],
    at: PointerValue<'m>,
) -> HashMap<FunctionValue<'m>, (Option<PointerValue<'m>>, bool)> {
    let raw = |f: &FunctionValue<'m>| RawCarried {
        function: f.as_value_ref(),
        slot: std::ptr::null_mut(),
        takes: 0,
    };
    let mut list: Vec<_> = chosen.iter().map(raw).collect();
    // SAFETY: the list has this length and holds distinct functions of the module that have bodies.
    unsafe {
        contech_shim_carry(module.as_mut_ptr(), list.as_mut_ptr(), list.len(), at.as_value_ref());
    }
    for (f, raw) in chosen.iter_mut().zip(&list) {
        // SAFETY: the shim leaves live functions of the module in place of those it removed.
        *f = unsafe { FunctionValue::new(raw.function) }.expect("a function");
    }
    let result = chosen.iter().zip(&list).map(|(f, raw)| {
        // SAFETY: a slot that is not null is an alloca.
        let slot = (!raw.slot.is_null()).then(|| unsafe { PointerValue::new(raw.slot) });
        (*f, (slot, raw.takes != 0))
    });
    result.collect()
}

/// Moves static allocas of a defined function to the head of its entry block.
pub(crate) fn hoist_allocas(f: FunctionValue<'_>) {
    // SAFETY: the callers pass functions with a body.
    unsafe { contech_shim_hoist_allocas(f.as_value_ref()) }
}

/// Turns `tail call; br` to a shared return into `tail call; ret`.
pub(crate) fn fold_tail_returns(f: FunctionValue<'_>) {
    // SAFETY: the callers pass functions with a body.
    unsafe { contech_shim_fold_tail_returns(f.as_value_ref()) }
}

/// The successors of a terminator, duplicates included; of an invoke the normal one first.
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

/// Puts an empty block on all edges from `from` to `to`.
pub(crate) fn split_edge<'m>(from: BasicBlock<'m>, to: BasicBlock<'m>) -> Option<BasicBlock<'m>> {
    // SAFETY: the callers pass an existing edge whose target is no exception pad, and no analysis
    // is open.
    unsafe { BasicBlock::new(contech_shim_split_edge(from.as_mut_ptr(), to.as_mut_ptr())) }
}

/// Splits the block after `condition` (an instruction). The returned terminator ends a new block
/// that runs when the condition is true, and the branch to it is marked unlikely.
pub(crate) fn split_unlikely<'m>(condition: IntValue<'m>) -> InstructionValue<'m> {
    // SAFETY: the callers pass the result of a compare instruction that is not last in its block;
    // the shim returns a branch.
    unsafe { InstructionValue::new(contech_shim_split_unlikely(condition.as_value_ref())) }
}

/// Turns allocas of one function into SSA registers; only loads and stores may use them.
pub(crate) fn promote(allocas: &[PointerValue<'_>]) {
    let mut raw: Vec<_> = allocas.iter().map(AsValueRef::as_value_ref).collect();
    // SAFETY: the allocas are of one function, and only loads and stores of their type use them
    // (callers' contract).
    unsafe { contech_shim_promote(raw.as_mut_ptr(), raw.len()) }
}

/// Whether the module has a fence between threads.
pub(crate) fn has_fence(module: &Module<'_>) -> bool {
    // SAFETY: the module is live.
    unsafe { contech_shim_has_fence(module.as_mut_ptr()) != 0 }
}

/// Puts the atomic operations of a defined function between calls of the first two functions, or a
/// call of the third after a load, and a call of the last after its fences. Operations of relaxed
/// order are included if `relaxed` asks for them.
pub(crate) fn wrap_atomics<'m>(
    f: FunctionValue<'m>,
    relaxed: bool,
    functions: [FunctionValue<'m>; 4],
) {
    let [begin, end, loaded, fence] = functions.map(|f| f.as_value_ref());
    let (f, relaxed) = (f.as_value_ref(), c_int::from(relaxed));
    // SAFETY: the callers pass a function with a body and four functions of its module with the
    // types of the contract.
    unsafe { contech_shim_wrap_atomics(f, relaxed, begin, end, loaded, fence) }
}

/// Puts a call of `turn` at the end of each turn of the loops of a defined function that only wait,
/// and that would not be recorded as a whole.
pub(crate) fn mark_waits<'m>(f: FunctionValue<'m>, turn: FunctionValue<'m>) {
    // SAFETY: the callers pass a function with a body and one of its module without arguments.
    unsafe { contech_shim_mark_waits(f.as_value_ref(), turn.as_value_ref()) }
}

/// Whether the compiler made a load or store where the source may not make it.
pub(crate) fn is_speculated(access: InstructionValue<'_>) -> bool {
    // SAFETY: the instruction is live.
    unsafe { contech_shim_is_speculated(access.as_value_ref()) != 0 }
}
