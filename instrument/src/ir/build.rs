//! Builds addresses, lanes and integers from operands.

use inkwell::AddressSpace;
use inkwell::builder::{Builder, BuilderError};
use inkwell::llvm_sys::core::{
    LLVMBuildBitCast, LLVMBuildExtractElement, LLVMBuildIntCast2, LLVMConstInt, LLVMGetVectorSize,
    LLVMIntTypeInContext, LLVMTypeOf,
};
use inkwell::module::Module;
use inkwell::types::AsTypeRef;
use inkwell::values::{
    BasicValue, BasicValueEnum, FunctionValue, GlobalValue, IntValue, PointerValue,
};

use super::operands::Operand;
use super::shim::contech_shim_allow_assembly;

/// LLVM's number of the calling convention `preserve_allcc`.
pub(crate) const PRESERVE_ALL: u32 = 15;

/// The address `base + offset` bytes.
pub(crate) fn offset<'m>(
    builder: &Builder<'m>,
    base: PointerValue<'m>,
    bytes: u64,
) -> Result<PointerValue<'m>, BuilderError> {
    if bytes == 0 {
        return Ok(base);
    }
    let context = base.get_type().get_context();
    let n = context.i64_type().const_int(bytes, false);
    // SAFETY: at least the slack's room lies behind the cursor, so the result is in the buffer.
    unsafe { builder.build_gep(context.i8_type(), base, &[n], "") }
}

/// The pointer that is in `from`.
pub(crate) fn load<'m>(
    builder: &Builder<'m>,
    from: PointerValue<'m>,
) -> Result<PointerValue<'m>, BuilderError> {
    let ptr = from.get_type();
    Ok(builder.build_load(ptr, from, "")?.into_pointer_value())
}

/// Stores a value so many bytes behind `base`, which may be anywhere.
pub(crate) fn put<'m>(
    builder: &Builder<'m>,
    base: PointerValue<'m>,
    at: u64,
    value: impl BasicValue<'m>,
) -> Result<(), BuilderError> {
    let to = offset(builder, base, at)?;
    let store = builder.build_store(to, value)?;
    store.set_alignment(1).expect("a store has an alignment, and 1 is one");
    Ok(())
}

/// Calls the function that makes room, and returns the cursor after it.
pub(crate) fn flush<'m>(
    builder: &Builder<'m>,
    function: FunctionValue<'m>,
    cursor: PointerValue<'m>,
) -> Result<BasicValueEnum<'m>, BuilderError> {
    let call = builder.build_direct_call(function, &[cursor.into()], "")?;
    call.set_call_convention(PRESERVE_ALL);
    Ok(call.try_as_basic_value().expect_basic("flush returns the cursor"))
}

/// The constant `global + offset` bytes.
pub(crate) fn global_offset(global: GlobalValue<'_>, bytes: u64) -> PointerValue<'_> {
    let base = global.as_pointer_value();
    let context = base.get_type().get_context();
    let n = context.i64_type().const_int(bytes, false);
    // SAFETY: the callers stay within the global's array.
    unsafe { base.const_gep(context.i8_type(), &[n]) }
}

/// Registers the assembly parser, so that modules may have inline assembly in whichever compiler
/// loaded the pass.
pub(crate) fn allow_assembly() {
    // SAFETY: the call registers a part of LLVM with LLVM itself, and may be repeated.
    unsafe { contech_shim_allow_assembly() }
}

pub(crate) fn lane<'m>(builder: &Builder<'m>, vector: Operand, i: u32) -> PointerValue<'m> {
    // SAFETY: the operand is a vector of pointers with more than `i` lanes (`pointer_lanes`), and
    // it is available where the builder stands.
    unsafe {
        let element = vector.element_type();
        let context = inkwell::llvm_sys::core::LLVMGetTypeContext(element);
        let index = LLVMConstInt(LLVMIntTypeInContext(context, 32), u64::from(i), 0);
        let value = LLVMBuildExtractElement(builder.as_mut_ptr(), vector.0, index, c"".as_ptr());
        PointerValue::new(value)
    }
}

/// An integer operand, zero-extended to 64 bits.
pub(crate) fn to_u64<'m>(
    builder: &Builder<'m>,
    value: Operand,
    i64_type: impl AsTypeRef,
) -> IntValue<'m> {
    // SAFETY: the callers pass integers and the 64-bit type; the integer is available where the
    // builder stands.
    unsafe {
        IntValue::new(LLVMBuildIntCast2(
            builder.as_mut_ptr(),
            value.0,
            i64_type.as_type_ref(),
            0,
            c"".as_ptr(),
        ))
    }
}

/// A vector of up to 64 `i1` as an integer, lane 0 in bit 0.
pub(crate) fn mask_to_u64<'m>(
    builder: &Builder<'m>,
    mask: Operand,
    i64_type: impl AsTypeRef,
) -> IntValue<'m> {
    // SAFETY: the callers pass a vector of i1 (the mask of a masked intrinsic), so the bitcast is
    // to an integer of as many bits.
    unsafe {
        let vector = LLVMTypeOf(mask.0);
        let context = inkwell::llvm_sys::core::LLVMGetTypeContext(vector);
        let bits = LLVMIntTypeInContext(context, LLVMGetVectorSize(vector));
        let int = LLVMBuildBitCast(builder.as_mut_ptr(), mask.0, bits, c"".as_ptr());
        to_u64(builder, Operand(int), i64_type)
    }
}

pub(crate) fn ptr_type<'m>(module: &Module<'m>) -> inkwell::types::PointerType<'m> {
    module.get_context().ptr_type(AddressSpace::default())
}
