//! Operands of instructions: their types, lanes, sizes and constant values.

use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetAsString, LLVMGetElementType, LLVMGetInitializer,
    LLVMGetOperand, LLVMGetPointerAddressSpace, LLVMGetTypeKind, LLVMGetVectorSize,
    LLVMIsAConstantInt, LLVMIsAGlobalVariable, LLVMIsConstantString, LLVMIsGlobalConstant,
    LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, IntValue, PointerValue};

use super::shim::{contech_shim_is_swift_error, contech_shim_store_size};

/// An operand of any type, including types that inkwell's enums lack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operand(pub(super) LLVMValueRef);

/// Operand `i`; a call's arguments come first.
pub(crate) fn operand(inst: InstructionValue<'_>, i: u32) -> Operand {
    // SAFETY: the callers ask only for operands that the opcode has.
    Operand(unsafe { LLVMGetOperand(inst.as_value_ref(), i) })
}

impl Operand {
    /// For modules that call LLVM themselves.
    pub(crate) fn from_raw(value: LLVMValueRef) -> Self {
        Operand(value)
    }

    pub(crate) fn as_raw(self) -> LLVMValueRef {
        self.0
    }

    fn kind(self) -> LLVMTypeKind {
        // SAFETY: an Operand is a live value.
        unsafe { LLVMGetTypeKind(LLVMTypeOf(self.0)) }
    }

    pub(super) fn element_type(self) -> LLVMTypeRef {
        // SAFETY: the callers have checked that this is a vector.
        unsafe { LLVMGetElementType(LLVMTypeOf(self.0)) }
    }

    /// The operand as a pointer of the default address space, or the reason why it cannot be
    /// recorded.
    pub(crate) fn pointer<'m>(self) -> Result<PointerValue<'m>, String> {
        if !matches!(self.kind(), LLVMTypeKind::LLVMPointerTypeKind) {
            return Err("operand that is no pointer".into());
        }
        // SAFETY: the operand is a live value of pointer type.
        unsafe {
            match LLVMGetPointerAddressSpace(LLVMTypeOf(self.0)) {
                0 if contech_shim_is_swift_error(self.0) != 0 => Err("swifterror slot".into()),
                0 => Ok(PointerValue::new(self.0)),
                n => Err(format!("address space {n}")),
            }
        }
    }

    /// Number of lanes, if this is a fixed vector of pointers of the default address space.
    pub(crate) fn pointer_lanes(self) -> Option<u32> {
        if !matches!(self.kind(), LLVMTypeKind::LLVMVectorTypeKind) {
            return None;
        }
        // SAFETY: the operand is a live value of vector type, and only a pointer type is asked for
        // its address space.
        unsafe {
            let element = self.element_type();
            let pointers = matches!(LLVMGetTypeKind(element), LLVMTypeKind::LLVMPointerTypeKind)
                && LLVMGetPointerAddressSpace(element) == 0;
            pointers.then(|| LLVMGetVectorSize(LLVMTypeOf(self.0)))
        }
    }

    /// Number of lanes of a fixed vector of any element type.
    pub(crate) fn lanes(self) -> Option<u32> {
        matches!(self.kind(), LLVMTypeKind::LLVMVectorTypeKind)
            // SAFETY: the operand is a live value of vector type.
            .then(|| unsafe { LLVMGetVectorSize(LLVMTypeOf(self.0)) })
    }

    /// The value of a constant integer, truncated to 64 bits.
    pub(crate) fn constant(self) -> Option<u64> {
        // SAFETY: the operand is a live value, and is asked for its number only if it is a constant
        // integer.
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetZExtValue(self.0)) }
    }

    /// Bytes that a load or store of this operand's type accesses; `None` for scalable vectors.
    pub(crate) fn store_size(self, module: &Module<'_>) -> Option<u64> {
        // SAFETY: the operand is a live value of the module, and its type has a size.
        let n = unsafe { contech_shim_store_size(module.as_mut_ptr(), LLVMTypeOf(self.0)) };
        (n != u64::MAX).then_some(n)
    }

    /// Bytes of one element of this fixed vector.
    pub(crate) fn element_size(self, module: &Module<'_>) -> Option<u64> {
        self.lanes()?;
        // SAFETY: the operand is a vector of the module, and its element type has a size.
        let n = unsafe { contech_shim_store_size(module.as_mut_ptr(), self.element_type()) };
        (n != u64::MAX).then_some(n)
    }
}

/// The value that an instruction computes.
pub(crate) fn result(inst: InstructionValue<'_>) -> Operand {
    Operand(inst.as_value_ref())
}

/// A value as an operand.
pub(crate) fn of_value(value: IntValue<'_>) -> Operand {
    Operand(value.as_value_ref())
}

/// Whether the value is the address of a constant, which nothing can write.
pub(crate) fn is_constant_data(value: BasicValueEnum<'_>) -> bool {
    constant(value).is_some()
}

/// The constant that the value is the address of.
fn constant(value: BasicValueEnum<'_>) -> Option<LLVMValueRef> {
    let value = value.as_value_ref();
    // SAFETY: the value is live, and is asked as a global only if it is one.
    unsafe {
        let global = LLVMIsAGlobalVariable(value);
        (!global.is_null() && LLVMIsGlobalConstant(global) != 0).then_some(global)
    }
}

/// The bytes of the constant text that the value is the address of, up to its final 0.
pub(crate) fn constant_text(value: BasicValueEnum<'_>) -> Option<Vec<u8>> {
    let global = constant(value)?;
    // SAFETY: the global is live; its initializer is asked for its bytes only if it is a string,
    // and they live as long as it.
    let bytes = unsafe {
        let data = LLVMGetInitializer(global);
        if data.is_null() || LLVMIsConstantString(data) == 0 {
            return None;
        }
        let mut n = 0;
        let bytes = LLVMGetAsString(data, &raw mut n);
        std::slice::from_raw_parts(bytes.cast::<u8>(), n)
    };
    let end = bytes.iter().position(|b| *b == 0)?;
    Some(bytes[..end].to_vec())
}
