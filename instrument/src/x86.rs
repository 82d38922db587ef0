//! Intrinsics of x86-64 that access memory (Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2). Some compute vector masks and addresses by themselves; these are computed
//! once more in front of the intrinsic, so that there is something to record. The program's own
//! code stays as it is.

use std::collections::HashMap;

use contech_program::OpKind;
use inkwell::IntPredicate;
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::types::{BasicTypeEnum, VectorType};
use inkwell::values::{BasicValueEnum, FunctionValue, InstructionOpcode, InstructionValue};

use crate::ir::{self, Operand};
use crate::memop::{self, Effects, Ops, Value};

/// An access; the numbers are argument positions, and `None` stands for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An access at argument 0, of the size of the data or of so many bytes.
    Plain { kind: OpKind, data: Option<u32>, bytes: Option<u32> },
    /// A copy of 64 bytes from argument 1 to argument 0.
    Copy,
    /// Consecutive elements under a mask.
    Masked {
        kind: OpKind,
        address: u32,
        mask: u32,
        data: Option<u32>,
        /// Bytes of an element in memory, if they differ from those of the data.
        element: Option<u32>,
    },
    /// An access at `base + index * scale` per lane; the scale is the last argument.
    Indexed { kind: OpKind, base: u32, index: u32, mask: u32, data: Option<u32> },
}

const GATHER: Form = Form::Indexed { kind: OpKind::Gather, base: 1, index: 2, mask: 3, data: None };
const SCATTER: Form =
    Form::Indexed { kind: OpKind::Scatter, base: 0, index: 2, mask: 1, data: Some(3) };

/// The form of the intrinsic `name`, which is given without `llvm.x86.`.
fn form(name: &str) -> Option<Form> {
    let bytes = |kind, n| Form::Plain { kind, data: None, bytes: Some(n) };
    let plain = |kind, data| Form::Plain { kind, data, bytes: None };
    let masked =
        |kind, address, mask, data| Form::Masked { kind, address, mask, data, element: None };
    let name = &name.replacen("avx512.mask.", "avx512.", 1);
    let is = |beginnings: &[&str]| beginnings.iter().any(|b| name.starts_with(b));
    Some(match name.as_str() {
        "sse2.maskmov.dqu" => masked(OpKind::MaskedStore, 2, 1, Some(0)),
        "sse3.ldu.dq" | "avx.ldu.dq.256" => plain(OpKind::Load, None),
        "sse.ldmxcsr" => bytes(OpKind::Load, 4),
        "sse.stmxcsr" => bytes(OpKind::Store, 4),
        "fxrstor" | "fxrstor64" => bytes(OpKind::Load, 512),
        "fxsave" | "fxsave64" => bytes(OpKind::Store, 512),
        "directstore32" | "directstore64" => plain(OpKind::Store, Some(1)),
        "movdir64b" => Form::Copy,
        _ if is(&["avx.maskload.", "avx2.maskload."]) => masked(OpKind::MaskedLoad, 0, 1, None),
        _ if is(&["avx.maskstore.", "avx2.maskstore."]) => {
            masked(OpKind::MaskedStore, 0, 1, Some(2))
        }
        _ if is(&["avx2.gather.", "avx512.gather.", "avx512.gather3"]) => GATHER,
        _ if is(&["avx512.scatter.", "avx512.scatterdiv", "avx512.scattersiv"]) => SCATTER,
        _ => return truncating_store(name.strip_prefix("avx512.")?),
    })
}

/// The form of `pmov.qb.mem.128` and the like, `pmovs` and `pmovus`: the second letter is the type
/// of the stored element.
fn truncating_store(name: &str) -> Option<Form> {
    let rest = name.strip_prefix("pmov")?;
    let (_, rest) = rest.split_once('.')?;
    let (letters, rest) = rest.split_once('.')?;
    let element = match letters.as_bytes() {
        [_, b'b'] => 1,
        [_, b'w'] => 2,
        [_, b'd'] => 4,
        _ => return None,
    };
    rest.starts_with("mem.").then_some(Form::Masked {
        kind: OpKind::MaskedStore,
        address: 0,
        mask: 2,
        data: Some(1),
        element: Some(element),
    })
}

/// Finds the intrinsics in a function and puts the code that they need in front of them.
/// Returns what they do.
pub(crate) fn prepare<'m>(module: &Module<'m>, f: FunctionValue<'m>) -> Effects<'m> {
    let mut effects = HashMap::new();
    let builder = module.get_context().create_builder();
    for inst in ir::instructions(f).filter(|i| i.get_opcode() == InstructionOpcode::Call) {
        let name = ir::called(inst).map(ir::name);
        if let Some(form) = name.and_then(|name| form(name.strip_prefix("llvm.x86.")?)) {
            builder.position_before(&inst);
            // A call without operations is classified and counted like any other intrinsic.
            effects.extend(ops(module, &builder, inst, form).map(|ops| (inst, Ok(ops))));
        }
    }
    effects
}

fn ops<'m>(
    module: &Module<'m>,
    builder: &Builder<'m>,
    inst: InstructionValue<'m>,
    form: Form,
) -> Option<Ops> {
    let count = ir::arg_count(inst);
    let argument = |i: u32| (i < count).then(|| ir::operand(inst, i));
    let value = |i: Option<u32>| i.map_or_else(|| Some(Operand::of(&inst)), argument);
    let address = |i: u32| argument(i).filter(|a| a.pointer().is_ok()).map(Value::Plain);
    let (op, values) = match form {
        Form::Plain { kind, data, bytes } => {
            let size = match bytes {
                Some(n) => n,
                None => u32::try_from(value(data)?.store_size(module)?).ok()?,
            };
            (memop::op(kind, size, 0), vec![address(0)?])
        }
        Form::Copy => (memop::copy(64), vec![address(0)?, address(1)?]),
        Form::Masked { kind, address: at, mask, data, element } => {
            let data = value(data)?;
            let lanes = lane_count(data)?;
            let size = match element {
                Some(n) => n,
                None => u32::try_from(data.element_size(module)?).ok()?,
            };
            let address = address(at)?;
            let mask = mask_of(builder, argument(mask)?, lanes)?;
            (memop::in_lanes(kind, size, lanes)?, vec![address, Value::Mask(mask)])
        }
        Form::Indexed { kind, base, index, mask, data } => {
            let (data, index) = (value(data)?, argument(index)?);
            // The shorter of data and index determines the number of lanes.
            let lanes = lane_count(data)?.min(lane_count(index)?);
            let scale = argument(count.checked_sub(1)?)?.constant()?;
            let pointers = ir::addresses(builder, argument(base)?, index, scale)?;
            let mask = mask_of(builder, argument(mask)?, lanes)?;
            let size = u32::try_from(data.element_size(module)?).ok()?;
            (memop::in_lanes(kind, size, lanes)?, memop::by_lane(mask, pointers, lanes))
        }
    };
    Some(vec![(op, values)])
}

fn lane_count(vector: Operand) -> Option<u32> {
    vector.lanes().filter(|n| *n <= 64)
}

/// The low `lanes` lanes of a mask as a vector of `i1`. The mask is an integer (bit i for lane i),
/// a vector of `i1`, or a vector whose sign bits count. `None` if the mask is none of these or too
/// short.
fn mask_of(builder: &Builder<'_>, mask: Operand, lanes: u32) -> Option<Operand> {
    let bits = match mask.basic() {
        BasicValueEnum::IntValue(int) => {
            let bit = int.get_type().get_context().bool_type();
            let vector = bit.vec_type(int.get_type().get_bit_width());
            builder.build_bit_cast(int, vector, "").ok()?.into_vector_value()
        }
        BasicValueEnum::VectorValue(vector) => {
            let ty = vector.get_type();
            let context = ty.get_context();
            let size = match ty.get_element_type() {
                BasicTypeEnum::IntType(t) => t.get_bit_width(),
                BasicTypeEnum::FloatType(t) if t == context.f32_type() => 32,
                BasicTypeEnum::FloatType(t) if t == context.f64_type() => 64,
                _ => return None,
            };
            if size == 1 {
                vector
            } else {
                let ty = ir::bits_type(context, size).vec_type(ty.get_size());
                let integers = builder.build_bit_cast(vector, ty, "").ok()?.into_vector_value();
                let negative = IntPredicate::SLT;
                builder.build_int_compare(negative, integers, ty.const_zero(), "").ok()?
            }
        }
        _ => return None,
    };
    let ty = bits.get_type();
    if lanes >= ty.get_size() {
        return (lanes == ty.get_size()).then(|| Operand::of(&bits));
    }
    let i32_type = ty.get_context().i32_type();
    let first: Vec<_> = (0..lanes).map(|i| i32_type.const_int(u64::from(i), false)).collect();
    let first = VectorType::const_vector(&first);
    let low = builder.build_shuffle_vector(bits, ty.get_poison(), first, "").ok()?;
    Some(Operand::of(&low))
}
