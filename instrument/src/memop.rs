//! Memory operations of one instruction: what its record holds, or why it cannot be recorded.

use std::collections::HashMap;

use contech_program::{MemOp, OpKind};
use inkwell::AtomicOrdering;
use inkwell::module::Module;
use inkwell::values::{InstructionOpcode, InstructionValue};

use crate::callee::Call;
use crate::ir::{self, Operand};

/// A value that can be recorded; in the naive form in the width that `MemOp::for_each_width` gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    /// 6 bytes: a pointer, or an integer, which is a length.
    Plain(Operand),
    /// 6 bytes: one pointer of a vector of pointers.
    Lane(Operand, u32),
    /// 8 bytes: a vector of `i1`.
    Mask(Operand),
}

impl Value {
    /// The LLVM value it is taken from.
    pub(crate) fn operand(self) -> Operand {
        match self {
            Value::Plain(v) | Value::Lane(v, _) | Value::Mask(v) => v,
        }
    }
}

/// Operations that are recorded before an instruction, each with its values.
pub(crate) type Ops = Vec<(MemOp, Vec<Value>)>;

/// What is recorded of an instruction, or the reason why it touches memory and is not recorded.
pub(crate) type Effect = Result<Ops, String>;

/// The effects of calls that are not by their instruction alone.
pub(crate) type Effects<'m> = HashMap<InstructionValue<'m>, Effect>;

/// Most arguments passed by copy that one call may record.
const MAX_BYVAL: usize = 256;

/// Intrinsics that touch memory according to LLVM, but make no access of the program's own.
const NO_ACCESS: &[&str] = &[
    "llvm.clear_cache",
    "llvm.eh.",
    "llvm.flt.rounds",
    "llvm.get.",
    "llvm.prefetch",
    "llvm.rdtsc",
    "llvm.readcyclecounter",
    "llvm.readsteadycounter",
    "llvm.reset.",
    "llvm.set.",
    "llvm.stackrestore",
    "llvm.stacksave",
    "llvm.threadlocal.address",
    "llvm.va_end",
    "llvm.x86.cldemote",
    "llvm.x86.clflushopt",
    "llvm.x86.clwb",
    "llvm.x86.rdtsc",
    "llvm.x86.sse2.clflush",
    "llvm.x86.sse2.lfence",
    "llvm.x86.sse2.mfence",
    "llvm.x86.sse2.pause",
    "llvm.x86.sse.sfence",
];

/// The effect of an instruction that is no call.
pub(crate) fn of_instruction<'m>(module: &Module<'m>, inst: InstructionValue<'m>) -> Effect {
    let (kind, at, accessed) = match inst.get_opcode() {
        InstructionOpcode::Load => (OpKind::Load, 0, Operand::of(&inst)),
        InstructionOpcode::Store => (OpKind::Store, 1, ir::operand(inst, 0)),
        InstructionOpcode::AtomicRMW | InstructionOpcode::AtomicCmpXchg => {
            (OpKind::Rmw, 0, ir::operand(inst, 1))
        }
        InstructionOpcode::VAArg => return Err("va_arg instruction".into()),
        _ => return Ok(Vec::new()),
    };
    let Some(size) = accessed.store_size(module).and_then(|n| u32::try_from(n).ok()) else {
        return Err("access of a size not known before run time".into());
    };
    if size == 0 {
        return Ok(Vec::new());
    }
    if size > MemOp::MAX_SIZE {
        return Err("access of more than 64 MiB".into());
    }
    let ordering = inst.get_atomic_ordering();
    let atomic = kind == OpKind::Rmw || ordering.is_ok_and(|o| o != AtomicOrdering::NotAtomic);
    let flags = if atomic { MemOp::ATOMIC } else { 0 }
        | if inst.get_volatile() == Ok(true) { MemOp::VOLATILE } else { 0 }
        | if ir::is_speculated(inst) { MemOp::SPECULATED } else { 0 };
    Ok(vec![(op(kind, size, flags), vec![address(inst, at)?])])
}

/// The address that operand `i` is.
fn address(inst: InstructionValue<'_>, i: u32) -> Result<Value, String> {
    let operand = ir::operand(inst, i);
    operand.pointer().map(|_| Value::Plain(operand))
}

/// The effect of the call itself, without what a boundary call's callee does.
pub(crate) fn of_call<'m>(module: &Module<'m>, inst: InstructionValue<'m>, call: &Call) -> Effect {
    match call {
        Call::Boundary { callee } if callee.starts_with("__atomic_") => libatomic(inst, callee),
        Call::Boundary { .. } => byval_copies(module, inst),
        Call::Asm { touches_memory: true } => Err("inline assembly".into()),
        // `clib` says what functions of the C library do.
        Call::Nothing | Call::Pure | Call::Asm { .. } => Ok(Vec::new()),
        Call::Intrinsic { name } => intrinsic(module, inst, name),
    }
}

/// Arguments passed by copy are read at the call. The place of the copy in the call's frame is
/// decided after the optimiser, so the writing of the copy is not recorded.
fn byval_copies<'m>(module: &Module<'m>, inst: InstructionValue<'m>) -> Effect {
    let mut ops = Vec::new();
    for i in 0..ir::arg_count(inst) {
        let size = ir::byval_size(module, inst, i);
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        if size > MemOp::MAX_SIZE {
            return Err("byval argument copy of more than 64 MiB".into());
        }
        if size > 0 {
            ops.push((op(OpKind::Load, size, 0), vec![address(inst, i)?]));
        }
    }
    // The operands of one instruction must fit into one record.
    if ops.len() > MAX_BYVAL {
        return Err(format!("more than {MAX_BYVAL} byval arguments"));
    }
    Ok(ops)
}

/// Calls of libatomic: `__atomic_NAME_SIZE(pointer, ...)`, or `__atomic_NAME(size, pointer, ...)`
/// with further pointers to values. What a failed compare-exchange writes back is not recorded.
fn libatomic(inst: InstructionValue<'_>, callee: &str) -> Effect {
    let unknown = || Err(format!("accesses of {callee}"));
    let name = callee.trim_start_matches("__atomic_");
    let sized =
        name.rsplit_once('_').and_then(|(name, size)| Some((name, size.parse::<u32>().ok()?)));
    let constant = || u32::try_from(ir::operand(inst, 0).constant()?).ok();
    let (name, size, first) = match sized {
        Some((name, size)) => (name, size, 0),
        None => match constant().filter(|size| *size <= MemOp::MAX_SIZE) {
            Some(size) => (name, size, 1),
            None => return unknown(),
        },
    };
    let generic = first == 1;
    // What is done to the memory that each pointer argument points to, in the order of the
    // accesses.
    let kinds: &[(u32, OpKind, u8)] = match name {
        "load" if generic => &[(0, OpKind::Load, MemOp::ATOMIC), (1, OpKind::Store, 0)],
        "load" => &[(0, OpKind::Load, MemOp::ATOMIC)],
        "store" if generic => &[(1, OpKind::Load, 0), (0, OpKind::Store, MemOp::ATOMIC)],
        "store" => &[(0, OpKind::Store, MemOp::ATOMIC)],
        "exchange" if generic => {
            &[(1, OpKind::Load, 0), (0, OpKind::Rmw, MemOp::ATOMIC), (2, OpKind::Store, 0)]
        }
        "compare_exchange" if generic => {
            &[(1, OpKind::Load, 0), (2, OpKind::Load, 0), (0, OpKind::Rmw, MemOp::ATOMIC)]
        }
        "compare_exchange" => &[(1, OpKind::Load, 0), (0, OpKind::Rmw, MemOp::ATOMIC)],
        "exchange" => &[(0, OpKind::Rmw, MemOp::ATOMIC)],
        "is_lock_free" => return Ok(Vec::new()),
        _ if name.starts_with("fetch_") || name.ends_with("_fetch") => {
            &[(0, OpKind::Rmw, MemOp::ATOMIC)]
        }
        _ => return unknown(),
    };
    let mut ops = Vec::with_capacity(kinds.len());
    for (argument, kind, flags) in kinds {
        if first + argument >= ir::arg_count(inst) {
            return unknown();
        }
        ops.push((op(*kind, size, *flags), vec![address(inst, first + argument)?]));
    }
    Ok(ops)
}

fn intrinsic<'m>(module: &Module<'m>, inst: InstructionValue<'m>, name: &str) -> Effect {
    // The name is `llvm.memcpy.p0.p0.i64`, or has `.inline` or `.element.unordered.atomic`; memmove
    // and memset have the same forms.
    let atomic = if name.contains(".element.unordered.atomic") { MemOp::ATOMIC } else { 0 };
    if name.starts_with("llvm.memcpy.") || name.starts_with("llvm.memmove.") {
        return bulk_op(inst, OpKind::Copy, atomic | volatile_argument(inst, atomic));
    }
    if name.starts_with("llvm.memset.") {
        return bulk_op(inst, OpKind::Set, atomic | volatile_argument(inst, atomic));
    }
    let masked = [
        ("llvm.masked.load.", OpKind::MaskedLoad),
        ("llvm.masked.store.", OpKind::MaskedStore),
        ("llvm.masked.gather.", OpKind::Gather),
        ("llvm.masked.scatter.", OpKind::Scatter),
        ("llvm.masked.expandload.", OpKind::ExpandLoad),
        ("llvm.masked.compressstore.", OpKind::CompressStore),
    ];
    if let Some((_, kind)) = masked.iter().find(|(prefix, _)| name.starts_with(prefix)) {
        return masked_op(module, inst, *kind).unwrap_or_else(|| Err(format!("intrinsic {name}")));
    }
    if name.starts_with("llvm.va_start") || name.starts_with("llvm.va_copy") {
        return va_list(inst);
    }
    if !ir::touches_memory(inst) || NO_ACCESS.iter().any(|n| name.starts_with(n)) {
        return Ok(Vec::new());
    }
    Err(format!("intrinsic {name}"))
}

/// `va_start` fills a `va_list` and `va_copy` copies one: 24 bytes by the System V ABI for x86-64
/// (3.5.7), a pointer in functions of the Windows convention. The arguments are then read by plain
/// loads.
fn va_list(inst: InstructionValue<'_>) -> Effect {
    const WIN64: u32 = 79;
    let function = inst.get_parent().and_then(|b| b.get_parent());
    let size = if function.is_some_and(|f| f.get_call_conventions() == WIN64) { 8 } else { 24 };
    let list = address(inst, 0)?;
    if ir::arg_count(inst) < 2 {
        return Ok(vec![(op(OpKind::Store, size, 0), vec![list])]);
    }
    Ok(vec![(copy(u64::from(size)), vec![list, address(inst, 1)?])])
}

/// The last argument of memcpy, memmove and memset is the volatile flag; the atomic forms have the
/// element size there.
fn volatile_argument(inst: InstructionValue<'_>, atomic: u8) -> u8 {
    let last = ir::arg_count(inst).saturating_sub(1);
    if atomic == 0 && ir::operand(inst, last).constant() == Some(1) { MemOp::VOLATILE } else { 0 }
}

/// Copies (destination, source, length) or sets (destination, value, length).
fn bulk_op(inst: InstructionValue<'_>, kind: OpKind, flags: u8) -> Effect {
    let mut values = Vec::with_capacity(3);
    for i in 0..1 + u32::from(kind == OpKind::Copy) {
        values.push(address(inst, i)?);
    }
    let length = ir::operand(inst, 2);
    let mut op = op(kind, 0, flags);
    match length.constant() {
        Some(0) => return Ok(Vec::new()),
        Some(n) => {
            op.flags |= MemOp::CONST_LEN;
            op.const_len = n;
        }
        None => values.push(Value::Plain(length)),
    }
    Ok(vec![(op, values)])
}

/// Operand positions: loads (pointer(s), mask, pass-through), stores (value, pointer(s), mask).
fn masked_op<'m>(module: &Module<'m>, inst: InstructionValue<'m>, kind: OpKind) -> Option<Effect> {
    let stores = matches!(kind, OpKind::MaskedStore | OpKind::Scatter | OpKind::CompressStore);
    let first = u32::from(stores);
    let accessed = if stores { ir::operand(inst, 0) } else { Operand::of(&inst) };
    let mask = ir::operand(inst, first + 1);
    let lanes = accessed.lanes().filter(|n| *n <= 64 && mask.lanes() == Some(*n))?;
    let size = u32::try_from(accessed.element_size(module)?).ok()?;
    let op = in_lanes(kind, size, lanes)?;
    let values = if matches!(kind, OpKind::Gather | OpKind::Scatter) {
        let addresses = ir::operand(inst, first);
        addresses.pointer_lanes().filter(|n| *n == lanes)?;
        by_lane(mask, addresses, lanes)
    } else {
        match address(inst, first) {
            Ok(address) => vec![address, Value::Mask(mask)],
            Err(reason) => return Some(Err(reason)),
        }
    };
    Some(Ok(vec![(op, values)]))
}

/// An operation on so many elements.
pub(crate) fn in_lanes(kind: OpKind, size: u32, lanes: u32) -> Option<MemOp> {
    Some(MemOp { lanes: u16::try_from(lanes).ok()?, ..op(kind, size, 0) })
}

/// The values of an operation that has an address for each lane.
pub(crate) fn by_lane(mask: Operand, addresses: Operand, lanes: u32) -> Vec<Value> {
    let addresses = (0..lanes).map(|i| Value::Lane(addresses, i));
    std::iter::once(Value::Mask(mask)).chain(addresses).collect()
}

/// A copy of so many bytes.
pub(crate) fn copy(bytes: u64) -> MemOp {
    MemOp { const_len: bytes, ..op(OpKind::Copy, 0, MemOp::CONST_LEN) }
}

/// An operation without its line, which the plan knows.
pub(crate) fn op(kind: OpKind, size: u32, flags: u8) -> MemOp {
    MemOp { flags, ..MemOp::new(kind, size, 0) }
}
