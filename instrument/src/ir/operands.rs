//! Operands of instructions: their types, lanes, sizes and constant values.

use inkwell::AddressSpace;
use inkwell::llvm_sys::LLVMTypeKind;
use inkwell::llvm_sys::core::{
    LLVMConstIntGetZExtValue, LLVMGetAsString, LLVMGetInitializer, LLVMGetOperand,
    LLVMGetPointerAddressSpace, LLVMGetTypeKind, LLVMIsAConstantInt, LLVMIsAGlobalVariable,
    LLVMIsAInstruction, LLVMIsConstantString, LLVMIsGlobalConstant, LLVMTypeOf,
};
use inkwell::llvm_sys::prelude::{LLVMTypeRef, LLVMValueRef};
use inkwell::module::Module;
use inkwell::types::{AsTypeRef, BasicTypeEnum};
use inkwell::values::{AsValueRef, BasicValueEnum, InstructionValue, PointerValue, VectorValue};

use super::shim::{contech_shim_is_swift_error, contech_shim_store_size};

/// A value of any type, including types that inkwell's enums lack; equal if it is the same one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Operand(LLVMValueRef);

/// Operand `i`; a call's arguments come first.
pub(crate) fn operand(inst: InstructionValue<'_>, i: u32) -> Operand {
    // SAFETY: the callers ask only for operands that the opcode has.
    Operand(unsafe { LLVMGetOperand(inst.as_value_ref(), i) })
}

impl Operand {
    pub(crate) fn of(value: &impl AsValueRef) -> Self {
        Operand(value.as_value_ref())
    }

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

    /// The value, which must have a type that can be stored.
    pub(crate) fn basic<'m>(self) -> BasicValueEnum<'m> {
        // SAFETY: an Operand is a live value.
        unsafe { BasicValueEnum::new(self.0) }
    }

    /// The instruction, if the value is one.
    pub(crate) fn instruction<'m>(self) -> Option<InstructionValue<'m>> {
        // SAFETY: an Operand is a live value, and the instruction is made only if it is one.
        unsafe { (!LLVMIsAInstruction(self.0).is_null()).then(|| InstructionValue::new(self.0)) }
    }

    /// The operand as a fixed vector, if it is one.
    pub(crate) fn vector<'m>(self) -> Option<VectorValue<'m>> {
        matches!(self.kind(), LLVMTypeKind::LLVMVectorTypeKind)
            // SAFETY: the operand is a live value of vector type.
            .then(|| unsafe { VectorValue::new(self.0) })
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
        let ty = self.vector()?.get_type();
        match ty.get_element_type() {
            BasicTypeEnum::PointerType(p) if p.get_address_space() == AddressSpace::default() => {
                Some(ty.get_size())
            }
            _ => None,
        }
    }

    /// Number of lanes of a fixed vector of any element type.
    pub(crate) fn lanes(self) -> Option<u32> {
        Some(self.vector()?.get_type().get_size())
    }

    /// The value of a constant integer, truncated to 64 bits.
    pub(crate) fn constant(self) -> Option<u64> {
        // SAFETY: the operand is a live value, and is asked for its number only if it is a constant
        // integer.
        unsafe { (!LLVMIsAConstantInt(self.0).is_null()).then(|| LLVMConstIntGetZExtValue(self.0)) }
    }

    /// Bytes that a load or store of this operand's type accesses; `None` for scalable vectors.
    pub(crate) fn store_size(self, module: &Module<'_>) -> Option<u64> {
        // SAFETY: the operand is a live value.
        store_size(module, unsafe { LLVMTypeOf(self.0) })
    }

    /// Bytes of one element of this fixed vector.
    pub(crate) fn element_size(self, module: &Module<'_>) -> Option<u64> {
        store_size(module, self.vector()?.get_type().get_element_type().as_type_ref())
    }
}

fn store_size(module: &Module<'_>, ty: LLVMTypeRef) -> Option<u64> {
    // SAFETY: the type is that of a value of the module, or of its elements, and has a size.
    let n = unsafe { contech_shim_store_size(module.as_mut_ptr(), ty) };
    (n != u64::MAX).then_some(n)
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
