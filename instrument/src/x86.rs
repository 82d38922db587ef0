//! Intrinsics of x86-64 that access memory (Intel 64 and IA-32 Architectures Software Developer's
//! Manual, volume 2). Some compute vector masks and addresses by themselves; these are computed
//! once more in front of the intrinsic, so that there is something to record. The program's own
//! code stays as it is.

use std::collections::{HashMap, HashSet};

use contech_program::{MemOp, OpKind};
use inkwell::builder::Builder;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue};

use crate::ir::{self, Callee, Operand};
use crate::lanes;
use crate::memop::{self, Effect, Value};

/// What [`prepare`] found and added.
#[derive(Debug, Default)]
pub(crate) struct Prepared<'m> {
    /// The effects of calls of x86 intrinsics.
    pub(crate) effects: HashMap<InstructionValue<'m>, Effect<'m>>,
    /// Instructions that the program does not have.
    pub(crate) added: HashSet<InstructionValue<'m>>,
}

/// An access; the numbers are argument positions, and `None` stands for the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// An access of `bytes`, or of the size of the value.
    Plain { kind: OpKind, address: u32, size: Size },
    /// A copy of constant length from argument 1 to argument 0.
    Copy { bytes: u64 },
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Bytes(u32),
    Of(Option<u32>),
}

/// The form of the intrinsic `name`, which is given without `llvm.x86.`.
fn form(name: &str) -> Option<Form> {
    let plain = |kind, size| {
        let address = 0;
        Some(Form::Plain { kind, address, size })
    };
    let masked =
        |kind, address, mask, data| Some(Form::Masked { kind, address, mask, data, element: None });
    match name {
        "sse2.maskmov.dqu" => return masked(OpKind::MaskedStore, 2, 1, Some(0)),
        "sse3.ldu.dq" | "avx.ldu.dq.256" => return plain(OpKind::Load, Size::Of(None)),
        "sse.ldmxcsr" => return plain(OpKind::Load, Size::Bytes(4)),
        "sse.stmxcsr" => return plain(OpKind::Store, Size::Bytes(4)),
        "fxrstor" | "fxrstor64" => return plain(OpKind::Load, Size::Bytes(512)),
        "fxsave" | "fxsave64" => return plain(OpKind::Store, Size::Bytes(512)),
        "directstore32" | "directstore64" => return plain(OpKind::Store, Size::Of(Some(1))),
        "movdir64b" => return Some(Form::Copy { bytes: 64 }),
        _ => {}
    }
    if name.starts_with("avx.maskload.") || name.starts_with("avx2.maskload.") {
        return masked(OpKind::MaskedLoad, 0, 1, None);
    }
    if name.starts_with("avx.maskstore.") || name.starts_with("avx2.maskstore.") {
        return masked(OpKind::MaskedStore, 0, 1, Some(2));
    }
    if name.starts_with("avx2.gather.") {
        return Some(gather());
    }
    let avx512 = name.strip_prefix("avx512.")?;
    let maskable = avx512.strip_prefix("mask.").unwrap_or(avx512);
    if maskable.starts_with("gather.") || maskable.starts_with("gather3") {
        return Some(gather());
    }
    if ["scatter.", "scatterdiv", "scattersiv"].iter().any(|p| maskable.starts_with(p)) {
        return Some(Form::Indexed {
            kind: OpKind::Scatter,
            base: 0,
            index: 2,
            mask: 1,
            data: Some(3),
        });
    }
    truncating_store(maskable)
}

fn gather() -> Form {
    Form::Indexed { kind: OpKind::Gather, base: 1, index: 2, mask: 3, data: None }
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
pub(crate) fn prepare<'m>(module: &Module<'m>, f: FunctionValue<'m>) -> Prepared<'m> {
    let mut prepared = Prepared::default();
    let builder = module.get_context().create_builder();
    for block in f.get_basic_block_iter() {
        for inst in block.get_instructions() {
            if inst.get_opcode() != InstructionOpcode::Call {
                continue;
            }
            let Callee::Function(callee) = ir::callee(inst) else {
                continue;
            };
            let Some(form) = ir::name(callee).strip_prefix("llvm.x86.").and_then(form) else {
                continue;
            };
            let before = inst.get_previous_instruction();
            builder.position_before(&inst);
            let effect = effect(module, &builder, inst, form);
            let mut next = match before {
                Some(i) => i.get_next_instruction(),
                None => block.get_first_instruction(),
            };
            while let Some(i) = next.filter(|i| *i != inst) {
                prepared.added.insert(i);
                next = i.get_next_instruction();
            }
            // A call without an effect is classified and counted like any other intrinsic.
            prepared.effects.extend(effect.map(|e| (inst, e)));
        }
    }
    prepared
}

fn effect<'m>(
    module: &Module<'m>,
    builder: &Builder<'m>,
    inst: InstructionValue<'m>,
    form: Form,
) -> Option<Effect<'m>> {
    let count = ir::arg_count(inst);
    let argument = |i: u32| (i < count).then(|| ir::operand(inst, i));
    let value = |i: Option<u32>| i.map_or_else(|| Some(ir::result(inst)), argument);
    let address = |i: u32| argument(i)?.pointer().ok().map(Value::Address);
    Some(match form {
        Form::Plain { kind, address: at, size } => {
            let size = match size {
                Size::Bytes(n) => n,
                Size::Of(v) => u32::try_from(value(v)?.store_size(module)?).ok()?,
            };
            Effect::one(memop::op(kind, size, 0), vec![address(at)?])
        }
        Form::Copy { bytes } => {
            let mut op = memop::op(OpKind::Copy, 0, MemOp::CONST_LEN);
            op.const_len = bytes;
            Effect::one(op, vec![address(0)?, address(1)?])
        }
        Form::Masked { kind, address: at, mask, data, element } => {
            let data = value(data)?;
            let lanes = lane_count(data)?;
            let size = match element {
                Some(n) => n,
                None => u32::try_from(data.element_size(module)?).ok()?,
            };
            let address = address(at)?;
            let mask = lanes::mask(builder, argument(mask)?, lanes)?;
            let mut op = memop::op(kind, size, 0);
            op.lanes = u16::try_from(lanes).ok()?;
            Effect::one(op, vec![address, Value::Mask(mask)])
        }
        Form::Indexed { kind, base, index, mask, data } => {
            let (data, index) = (value(data)?, argument(index)?);
            // The shorter of data and index determines the number of lanes.
            let lanes = lane_count(data)?.min(lane_count(index)?);
            let scale = argument(count.checked_sub(1)?)?.constant()?;
            let pointers = lanes::addresses(builder, argument(base)?, index, scale)?;
            let mask = lanes::mask(builder, argument(mask)?, lanes)?;
            let size = u32::try_from(data.element_size(module)?).ok()?;
            let mut op = memop::op(kind, size, 0);
            op.lanes = u16::try_from(lanes).ok()?;
            let values = std::iter::once(Value::Mask(mask))
                .chain((0..lanes).map(|i| Value::Lane(pointers, i)))
                .collect();
            Effect::one(op, values)
        }
    })
}

fn lane_count(vector: Operand) -> Option<u32> {
    vector.lanes().filter(|n| *n <= 64)
}
