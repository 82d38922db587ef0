//! Builds addresses, lanes and integers from operands.

use inkwell::AddressSpace;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::llvm_sys::core::LLVMBuildGEP2;
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, IntType};
use inkwell::values::{AsValueRef, GlobalValue, PointerValue};

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

/// The type of integers of so many bits.
pub(crate) fn bits_type(context: ContextRef<'_>, bits: u32) -> IntType<'_> {
    let bits = bits.try_into().expect("a width is not 0");
    context.custom_width_int_type(bits).expect("the width is that of a type or vector")
}

pub(crate) fn ptr_type<'m>(module: &Module<'m>) -> inkwell::types::PointerType<'m> {
    module.get_context().ptr_type(AddressSpace::default())
}

/// `base + index * scale` for each lane of the vector of integers `index`, which is sign-extended.
pub(crate) fn addresses(
    builder: &Builder<'_>,
    base: Operand,
    index: Operand,
    scale: u64,
) -> Option<Operand> {
    let base = base.pointer().ok()?;
    let index = index.vector()?;
    let ty = index.get_type();
    if !ty.get_element_type().is_int_type() {
        return None;
    }
    let unit = ty.get_context().i8_type().array_type(u32::try_from(scale).ok()?);
    let mut indices = [index.as_value_ref()];
    // SAFETY: the operands are live values, available where the builder stands. The base is a
    // pointer, and a GEP with a vector of integers as index makes a vector of pointers.
    let vector = unsafe {
        LLVMBuildGEP2(
            builder.as_mut_ptr(),
            unit.as_type_ref(),
            base.as_value_ref(),
            indices.as_mut_ptr(),
            1,
            c"".as_ptr(),
        )
    };
    Some(Operand::from_raw(vector))
}
