//! Call instructions: what they call, with which arguments, and what is known of them.

use std::ffi::c_char;

use inkwell::llvm_sys::core::{
    LLVMGetCalledValue, LLVMGetInlineAsmAsmString, LLVMGetInlineAsmConstraintString,
    LLVMGetNumArgOperands, LLVMGetValueName2, LLVMIsAFunction, LLVMIsAGlobalValue,
    LLVMIsAInlineAsm,
};
use inkwell::module::Module;
use inkwell::values::{
    AsValueRef, FunctionValue, InstructionOpcode, InstructionValue, LLVMTailCallKind,
};

use super::shim::{
    contech_shim_byval_size, contech_shim_never_returns, contech_shim_touches_memory,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Callee<'m> {
    Function(FunctionValue<'m>),
    Asm {
        text: String,
        constraints: String,
    },
    /// A function pointer, or a global alias of this name.
    Other(String),
}

/// What the call, invoke or callbr calls.
pub(crate) fn callee<'m>(call: InstructionValue<'m>) -> Callee<'m> {
    // SAFETY: the instruction is a call of some kind (the callers match on the opcode), so it has a
    // called value. Every string returned lives as long as that value and comes with its length.
    unsafe {
        let value = LLVMGetCalledValue(call.as_value_ref());
        if !LLVMIsAFunction(value).is_null()
            && let Some(f) = FunctionValue::new(value)
        {
            return Callee::Function(f);
        }
        if !LLVMIsAInlineAsm(value).is_null() {
            return Callee::Asm {
                text: text(|n| LLVMGetInlineAsmAsmString(value, n)),
                constraints: text(|n| LLVMGetInlineAsmConstraintString(value, n)),
            };
        }
        if LLVMIsAGlobalValue(value).is_null() {
            return Callee::Other(String::new());
        }
        Callee::Other(text(|n| LLVMGetValueName2(value, n)))
    }
}

/// The function that an instruction calls directly, if it is a call or invoke that does.
pub(crate) fn called(inst: InstructionValue<'_>) -> Option<FunctionValue<'_>> {
    match is_call(inst).then(|| callee(inst)) {
        Some(Callee::Function(f)) => Some(f),
        _ => None,
    }
}

pub(crate) fn is_call(inst: InstructionValue<'_>) -> bool {
    matches!(inst.get_opcode(), InstructionOpcode::Call | InstructionOpcode::Invoke)
}

/// Copies a text of LLVM.
///
/// # Safety
/// `get` returns null, or sets its argument to the number of bytes that can be read there.
pub(crate) unsafe fn text<N: Default + TryInto<usize>>(
    get: impl FnOnce(*mut N) -> *const c_char,
) -> String {
    let mut n = N::default();
    let at = get(&raw mut n);
    let n = n.try_into().unwrap_or(0);
    if at.is_null() || n == 0 {
        return String::new();
    }
    // SAFETY: this function's contract.
    let raw = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), n) };
    String::from_utf8_lossy(raw).into_owned()
}

pub(crate) fn arg_count(call: InstructionValue<'_>) -> u32 {
    // SAFETY: `call` is a call instruction, by the callers' contract.
    unsafe { LLVMGetNumArgOperands(call.as_value_ref()) }
}

/// Whether the call may read or write memory the program can see.
pub(crate) fn touches_memory(call: InstructionValue<'_>) -> bool {
    // SAFETY: `call` is a call instruction, by the callers' contract.
    unsafe { contech_shim_touches_memory(call.as_value_ref()) != 0 }
}

/// Whether the call is known not to return.
pub(crate) fn never_returns(call: InstructionValue<'_>) -> bool {
    // SAFETY: `call` is a call instruction, by the callers' contract.
    unsafe { contech_shim_never_returns(call.as_value_ref()) != 0 }
}

/// Bytes that the call copies because argument `i` points to them (`byval`); 0 if it does not.
pub(crate) fn byval_size(module: &Module<'_>, call: InstructionValue<'_>, i: u32) -> u64 {
    // SAFETY: `call` is a call instruction of the module and has the argument, by the callers'
    // contract.
    unsafe { contech_shim_byval_size(module.as_mut_ptr(), call.as_value_ref(), i) }
}

/// Makes sure that a call never becomes a tail call, unless it is `musttail`. An invoke never does.
pub(crate) fn forbid_tail_call(call: InstructionValue<'_>) {
    if !is_must_tail(call) {
        let _ = call.set_tail_call_kind(LLVMTailCallKind::LLVMTailCallKindNoTail);
    }
}

/// Whether the instruction is a call that must be a tail call.
pub(crate) fn is_must_tail(inst: InstructionValue<'_>) -> bool {
    inst.get_tail_call_kind() == Ok(LLVMTailCallKind::LLVMTailCallKindMustTail)
}
