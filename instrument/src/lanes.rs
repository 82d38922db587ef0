//! Vectors that must be computed before they can be recorded: masks as `i1`, and addresses of
//! lanes.
#![allow(unsafe_code, reason = "calls of the LLVM C API")]

use inkwell::builder::Builder;
use inkwell::llvm_sys::core::{
    LLVMArrayType2, LLVMBuildBitCast, LLVMBuildGEP2, LLVMBuildICmp, LLVMBuildShuffleVector,
    LLVMConstInt, LLVMConstNull, LLVMConstVector, LLVMGetElementType, LLVMGetIntTypeWidth,
    LLVMGetPoison, LLVMGetTypeContext, LLVMGetTypeKind, LLVMInt8TypeInContext,
    LLVMIntTypeInContext, LLVMTypeOf, LLVMVectorType,
};
use inkwell::llvm_sys::prelude::{LLVMBuilderRef, LLVMValueRef};
use inkwell::llvm_sys::{LLVMIntPredicate, LLVMTypeKind};

use crate::ir::Operand;

/// The low `lanes` lanes of a mask as a vector of `i1`. The mask is an integer (bit i for lane i),
/// a vector of `i1`, or a vector whose sign bits count. `None` if the mask is none of these or too
/// short.
pub(crate) fn mask(builder: &Builder<'_>, mask: Operand, lanes: u32) -> Option<Operand> {
    // SAFETY: the operand is a live value, available where the builder stands. Types are asked only
    // for what their kinds have, and every bitcast is between types of as many bits.
    unsafe {
        let b = builder.as_mut_ptr();
        let ty = LLVMTypeOf(mask.as_raw());
        let context = LLVMGetTypeContext(ty);
        let bit = LLVMIntTypeInContext(context, 1);
        let (bits, width) = if matches!(LLVMGetTypeKind(ty), LLVMTypeKind::LLVMIntegerTypeKind) {
            let width = LLVMGetIntTypeWidth(ty);
            let vector = LLVMVectorType(bit, width);
            let cast = LLVMBuildBitCast(b, mask.as_raw(), vector, c"".as_ptr());
            (cast, width)
        } else {
            let width = mask.lanes()?;
            let element = LLVMGetElementType(ty);
            let size = match LLVMGetTypeKind(element) {
                LLVMTypeKind::LLVMIntegerTypeKind => LLVMGetIntTypeWidth(element),
                LLVMTypeKind::LLVMFloatTypeKind => 32,
                LLVMTypeKind::LLVMDoubleTypeKind => 64,
                _ => return None,
            };
            let bits = if size == 1 {
                mask.as_raw()
            } else {
                let vector = LLVMVectorType(LLVMIntTypeInContext(context, size), width);
                let integers = LLVMBuildBitCast(b, mask.as_raw(), vector, c"".as_ptr());
                let zero = LLVMConstNull(vector);
                let negative = LLVMIntPredicate::LLVMIntSLT;
                LLVMBuildICmp(b, negative, integers, zero, c"".as_ptr())
            };
            (bits, width)
        };
        (lanes <= width).then(|| Operand::from_raw(low(b, bits, width, lanes)))
    }
}

/// The first `lanes` of a vector's `width` lanes.
///
/// # Safety
/// `vector` has `width >= lanes` lanes and is available where the builder stands.
unsafe fn low(b: LLVMBuilderRef, vector: LLVMValueRef, width: u32, lanes: u32) -> LLVMValueRef {
    if lanes == width {
        return vector;
    }
    // SAFETY: this function's contract, and the indices are constants below `width`.
    unsafe {
        let ty = LLVMTypeOf(vector);
        let i32_type = LLVMIntTypeInContext(LLVMGetTypeContext(ty), 32);
        let mut indices: Vec<_> =
            (0..lanes).map(|i| LLVMConstInt(i32_type, u64::from(i), 0)).collect();
        let indices = LLVMConstVector(indices.as_mut_ptr(), lanes);
        LLVMBuildShuffleVector(b, vector, LLVMGetPoison(ty), indices, c"".as_ptr())
    }
}

/// `base + index * scale` for each lane of the vector of integers `index`, which is sign-extended.
pub(crate) fn addresses(
    builder: &Builder<'_>,
    base: Operand,
    index: Operand,
    scale: u64,
) -> Option<Operand> {
    index.lanes()?;
    base.pointer().ok()?;
    // SAFETY: the operands are live values, available where the builder stands. The base is a
    // pointer, and a GEP with a vector of integers as index makes a vector of pointers.
    unsafe {
        let ty = LLVMTypeOf(index.as_raw());
        let element = LLVMGetElementType(ty);
        if !matches!(LLVMGetTypeKind(element), LLVMTypeKind::LLVMIntegerTypeKind) {
            return None;
        }
        let unit = LLVMArrayType2(LLVMInt8TypeInContext(LLVMGetTypeContext(ty)), scale);
        let mut indices = [index.as_raw()];
        let vector = LLVMBuildGEP2(
            builder.as_mut_ptr(),
            unit,
            base.as_raw(),
            indices.as_mut_ptr(),
            1,
            c"".as_ptr(),
        );
        Some(Operand::from_raw(vector))
    }
}
