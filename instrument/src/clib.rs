//! What functions of the C library read and write for the program that calls them: a table, and the
//! code around a call that finds out what its arguments do not say.
//!
//! What a call reads is recorded in front of it and what it writes behind it, because others may
//! come after what it tells them (`write`), and it may come after others (`read`). What the system
//! is handed for reading counts as read, even if a call then takes less of it. Constants are not
//! recorded: nothing can change them.

use contech_program::{MemOp, OpKind};
use contech_trace::abi::{ALIKE, ARRAY, RuntimeFn, TEXT};
use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::intrinsics::Intrinsic;
use inkwell::module::Module;
use inkwell::types::{AnyType as _, AnyTypeEnum};
use inkwell::values::{
    BasicMetadataValueEnum, BasicValueEnum, CallSiteValue, FunctionValue, InstructionOpcode,
    InstructionValue, IntValue, PointerValue,
};

use crate::callee;
use crate::descriptor::runtime_fn;
use crate::ir::{self, Operand};
use crate::memop::{self, Effects, Ops, Value};

mod format;
pub(crate) mod table;

/// A number of 64 bits that is known at a call: an address or a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Number {
    Const(u64),
    /// An argument; a narrower integer is sign-extended.
    Arg(u32),
    /// What the call returns.
    Result,
    /// The pointer that the argument points to before the call.
    In(u32),
    /// The pointer that the argument points to after the call.
    Behind(u32),
    /// Bytes of the array that a descriptor of Fortran tells of, if they lie one behind the other.
    Array(&'static Number),
    Add(&'static Number, &'static Number),
    Sub(&'static Number, &'static Number),
    Mul(&'static Number, &'static Number),
    /// The smaller one; both are unsigned.
    Min(&'static Number, &'static Number),
    /// 0 in place of a negative number.
    NotNegative(&'static Number),
    /// The second if the first is 0, otherwise the third.
    IfZero(&'static Number, &'static Number, &'static Number),
    /// Bytes of the text at the address with its final 0, at most as many as the second says.
    Text(&'static Number, &'static Number),
    /// Bytes of two texts up to the first in which they differ, or to the final 0, at most as many
    /// as the third says. The last says whether upper and lower case are alike.
    Alike(&'static Number, &'static Number, &'static Number, bool),
}

/// What a call does to memory of the program.
#[derive(Debug, Clone, Copy)]
enum Access {
    /// Address and bytes.
    Reads(Number, Number),
    Writes(Number, Number),
    /// Destination, source and bytes. The copy is made before the call returns, and nothing can see
    /// when.
    Copies(Number, Number, Number),
    /// The argument is a format, and those behind it are printed.
    Prints(u32),
    /// The argument is null or says where the call puts a pointer. The call gets a place of ours
    /// instead of null, so that the pointer can be read behind it.
    Place(u32),
}

impl Number {
    /// Whether the number is known only after the call.
    fn comes_after(&self) -> bool {
        let parts: &[&Number] = match self {
            Self::Result | Self::Behind(_) => return true,
            Self::Const(_) | Self::Arg(_) | Self::In(_) => &[],
            Self::NotNegative(a) | Self::Array(a) => &[a],
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) => &[a, b],
            Self::Min(a, b) | Self::Text(a, b) => &[a, b],
            Self::IfZero(a, b, c) | Self::Alike(a, b, c, _) => &[a, b, c],
        };
        parts.iter().any(|part| part.comes_after())
    }
}

/// Finds the calls in a function, and puts the code that they need around them.
pub(crate) fn prepare<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    effects: &mut Effects<'m>,
) -> Result<(), BuilderError> {
    let mut calls = Vec::new();
    for inst in ir::instructions(f) {
        calls.extend(known_callee(inst).map(|accesses| (inst, accesses)));
    }
    for (inst, accesses) in calls {
        let call = Around {
            module,
            builder: module.get_context().create_builder(),
            inst,
            arguments: (0..ir::arg_count(inst))
                .filter_map(|i| inst.get_operand(i)?.value())
                .collect(),
            known: Vec::new(),
            ops: Ops::new(),
            unrecorded: None,
        };
        call.record(f, accesses, effects)?;
    }
    Ok(())
}

fn known_callee(inst: InstructionValue<'_>) -> Option<&'static [Access]> {
    let callee = ir::called(inst).filter(|f| f.count_basic_blocks() == 0)?;
    let name = ir::source_name(callee);
    let mut rows = table::find(&name);
    rows.find_map(|(form, accesses)| has_form(inst, form).then_some(accesses))
}

/// Whether a call has this type: that of the result, then those of the arguments; `i` is an integer
/// of 32 bits, `l` one of 64, `p` a pointer, `d` a double, `f` a float, `v` nothing, and a `.` at
/// the end means more arguments. A function of the program with the name of one of the library has
/// another type as a rule.
fn has_form(inst: InstructionValue<'_>, form: &str) -> bool {
    let letter = |ty: AnyTypeEnum<'_>| match ty {
        AnyTypeEnum::IntType(t) if t.get_bit_width() == 32 => b'i',
        AnyTypeEnum::IntType(t) if t.get_bit_width() == 64 => b'l',
        AnyTypeEnum::PointerType(_) => b'p',
        AnyTypeEnum::FloatType(t) if t == t.get_context().f64_type() => b'd',
        AnyTypeEnum::FloatType(t) if t == t.get_context().f32_type() => b'f',
        AnyTypeEnum::VoidType(_) => b'v',
        _ => b'?',
    };
    let (fixed, open) = match form.strip_suffix('.') {
        Some(fixed) => (fixed, true),
        None => (form, false),
    };
    let mut types = vec![letter(inst.get_type())];
    for i in 0..ir::arg_count(inst) {
        let value = inst.get_operand(i).and_then(|o| o.value());
        types.push(value.map_or(b'?', |v| letter(v.get_type().as_any_type_enum())));
    }
    if open { types.starts_with(fixed.as_bytes()) } else { types == fixed.as_bytes() }
}

/// The code around one call.
struct Around<'a, 'm> {
    module: &'a Module<'m>,
    builder: Builder<'m>,
    inst: InstructionValue<'m>,
    /// The program's arguments.
    arguments: Vec<BasicValueEnum<'m>>,
    /// Numbers that the code has already, on this side of the call.
    known: Vec<(Number, IntValue<'m>)>,
    /// What is recorded on this side of the call, or why something is not.
    ops: Ops,
    unrecorded: Option<String>,
}

type Built<T> = std::result::Result<T, BuilderError>;

impl<'m> Around<'_, 'm> {
    fn record(
        mut self,
        f: FunctionValue<'m>,
        accesses: &'static [Access],
        effects: &mut Effects<'m>,
    ) -> Built<()> {
        let boundary = callee::classify(self.inst).boundary().is_some()
            || self.inst.get_opcode() == InstructionOpcode::Invoke;
        let late = |access: &&Access| match access {
            Access::Reads(at, bytes) => at.comes_after() || bytes.comes_after(),
            Access::Writes(at, bytes) => boundary || at.comes_after() || bytes.comes_after(),
            Access::Copies(..) | Access::Prints(_) => false,
            Access::Place(_) => true,
        };
        let (after, before): (Vec<&Access>, Vec<&Access>) = accesses.iter().partition(late);
        self.builder.position_before(&self.inst);
        for access in before {
            self.access(access)?;
        }
        let must_tail = ir::is_must_tail(self.inst);
        if !must_tail {
            self.give_places(f, &after)?;
        }
        let ops = std::mem::take(&mut self.ops);
        if !ops.is_empty() {
            effects.insert(self.inst, Ok(ops));
        } else if let Some(why) = self.unrecorded.take() {
            effects.insert(self.inst, Err(why));
        }
        if after.is_empty() || must_tail {
            return Ok(());
        }
        // What follows is known after the call.
        self.known.clear();
        let Some(next) = self.next() else {
            return Ok(());
        };
        self.builder.position_before(&next);
        for access in after {
            self.access(access)?;
        }
        // The operations are recorded in front of an instruction that does nothing.
        let nothing = Intrinsic::find("llvm.donothing")
            .and_then(|i| i.get_declaration(self.module, &[]))
            .expect("LLVM has this intrinsic");
        let mark = self.builder.build_direct_call(nothing, &[], "")?;
        let mark = mark.try_as_basic_value().expect_instruction("no result");
        mark.set_debug_location(self.inst.get_debug_location());
        if !self.ops.is_empty() {
            effects.insert(mark, Ok(self.ops));
        }
        Ok(())
    }

    /// The instruction after the call.
    fn next(&self) -> Option<InstructionValue<'m>> {
        if self.inst.get_opcode() != InstructionOpcode::Invoke {
            return self.inst.get_next_instruction();
        }
        let mut at = ir::successors(self.inst).first()?.get_first_instruction();
        while let Some(phi) = at.filter(|i| i.get_opcode() == InstructionOpcode::Phi) {
            at = phi.get_next_instruction();
        }
        at
    }

    /// Lets the call write pointers that are read after it to a place of ours, if the program wants
    /// none.
    fn give_places(&mut self, f: FunctionValue<'m>, accesses: &[&Access]) -> Built<()> {
        for access in accesses {
            let Access::Place(i) = access else { continue };
            let Some(BasicValueEnum::PointerValue(own)) = self.argument(*i) else {
                continue;
            };
            let first = f.get_first_basic_block().and_then(|b| b.get_first_instruction());
            let Some(first) = first else { continue };
            let builder = self.module.get_context().create_builder();
            builder.position_before(&first);
            let place = builder.build_alloca(ir::ptr_type(self.module), "contech.end")?;
            let absent = self.builder.build_is_null(own, "")?;
            let place = BasicValueEnum::from(place);
            let chosen = self.builder.build_select(absent, place, own.into(), "")?;
            self.inst.set_operand(*i, chosen);
            // A tail call must not touch what is in this frame.
            ir::forbid_tail_call(self.inst);
        }
        Ok(())
    }

    fn argument(&self, i: u32) -> Option<BasicValueEnum<'m>> {
        self.arguments.get(i as usize).copied()
    }

    /// Adds the operations of an access.
    fn access(&mut self, access: &Access) -> Built<()> {
        match access {
            Access::Reads(at, bytes) => self.op(OpKind::Scan, &[*at], bytes),
            Access::Writes(at, bytes) => self.op(OpKind::Set, &[*at], bytes),
            Access::Copies(to, from, bytes) => self.op(OpKind::Copy, &[*to, *from], bytes),
            Access::Prints(at) => self.prints(*at),
            Access::Place(_) => Ok(()),
        }
    }

    fn op(&mut self, kind: OpKind, at: &[Number], bytes: &Number) -> Built<()> {
        let constant = |value: Option<BasicValueEnum<'m>>| value.is_some_and(ir::is_constant_data);
        if let (OpKind::Scan, [Number::Arg(i)]) = (kind, at)
            && constant(self.argument(*i))
        {
            return Ok(());
        }
        let bytes = self.number(bytes)?;
        self.sized(kind, at, bytes)
    }

    fn sized(&mut self, kind: OpKind, at: &[Number], bytes: IntValue<'m>) -> Built<()> {
        let mut op = memop::op(kind, 0, 0);
        let mut values = Vec::with_capacity(3);
        for at in at {
            values.push(Value::Plain(Operand::of(&self.address(at)?)));
        }
        match bytes.get_zero_extended_constant() {
            Some(0) => return Ok(()),
            Some(n) => {
                op.flags |= MemOp::CONST_LEN;
                op.const_len = n;
            }
            None => values.push(Value::Plain(Operand::of(&bytes))),
        }
        self.ops.push((op, values));
        Ok(())
    }

    fn address(&mut self, at: &Number) -> Built<PointerValue<'m>> {
        let known = match at {
            Number::Arg(i) => self.argument(*i),
            Number::Result => self.result(),
            _ => None,
        };
        if let Some(BasicValueEnum::PointerValue(p)) = known {
            return Ok(p);
        }
        let number = self.number(at)?;
        let ptr = ir::ptr_type(self.module);
        self.builder.build_int_to_ptr(number, ptr, "")
    }

    fn result(&self) -> Option<BasicValueEnum<'m>> {
        let call = CallSiteValue::try_from(self.inst).ok()?;
        call.try_as_basic_value().basic()
    }

    /// The code that computes a number, where the builder stands.
    fn number(&mut self, number: &Number) -> Built<IntValue<'m>> {
        if let Some((_, value)) = self.known.iter().find(|(n, _)| n == number) {
            return Ok(*value);
        }
        let word = self.module.get_context().i64_type();
        let value = match number {
            Number::Const(n) => word.const_int(*n, false),
            Number::Arg(i) => self.word(self.argument(*i))?,
            Number::Result => self.word(self.result())?,
            Number::In(i) | Number::Behind(i) => self.behind(*i)?,
            Number::Array(at) => {
                let at = self.address(at)?.into();
                self.helper(&ARRAY, &[at])?
            }
            Number::Add(a, b) | Number::Sub(a, b) | Number::Mul(a, b) | Number::Min(a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                match number {
                    Number::Add(..) => self.builder.build_int_add(a, b, "")?,
                    Number::Sub(..) => self.builder.build_int_sub(a, b, "")?,
                    Number::Mul(..) => self.builder.build_int_mul(a, b, "")?,
                    _ => {
                        let less = self.builder.build_int_compare(IntPredicate::ULT, a, b, "")?;
                        self.choose(less, a, b)?
                    }
                }
            }
            Number::NotNegative(a) => {
                let (a, zero) = (self.number(a)?, word.const_zero());
                let negative = self.builder.build_int_compare(IntPredicate::SLT, a, zero, "")?;
                self.choose(negative, zero, a)?
            }
            Number::IfZero(a, b, c) => {
                let (a, b, c) = (self.number(a)?, self.number(b)?, self.number(c)?);
                let zero = self.is_zero(a)?;
                self.choose(zero, b, c)?
            }
            Number::Text(at, limit) => {
                let limit = self.number(limit)?;
                self.text(at, limit)?
            }
            Number::Alike(a, b, limit, fold) => {
                let limit = self.number(limit)?.into();
                let fold = word.const_int(u64::from(*fold), false).into();
                let arguments = [self.address(a)?.into(), self.address(b)?.into(), limit, fold];
                self.helper(&ALIKE, &arguments)?
            }
        };
        self.known.push((*number, value));
        Ok(value)
    }

    /// Bytes of the text at an address, at most `limit`.
    fn text(&mut self, at: &Number, limit: IntValue<'m>) -> Built<IntValue<'m>> {
        let at = self.address(at)?.into();
        self.helper(&TEXT, &[at, limit.into()])
    }

    fn helper(
        &self,
        function: &RuntimeFn,
        arguments: &[BasicMetadataValueEnum<'m>],
    ) -> Built<IntValue<'m>> {
        let function = runtime_fn(self.module, function);
        let call = self.builder.build_direct_call(function, arguments, "")?;
        let value = call.try_as_basic_value().expect_basic("it returns a number");
        Ok(value.into_int_value())
    }

    fn behind(&self, i: u32) -> Built<IntValue<'m>> {
        let ptr = ir::ptr_type(self.module);
        // The call's own argument, which may be a place of ours.
        let Some(BasicValueEnum::PointerValue(at)) =
            self.inst.get_operand(i).and_then(|o| o.value())
        else {
            return Ok(self.module.get_context().i64_type().const_zero());
        };
        let pointer = self.builder.build_load(ptr, at, "")?;
        self.word(Some(pointer))
    }

    fn word(&self, value: Option<BasicValueEnum<'m>>) -> Built<IntValue<'m>> {
        let word = self.module.get_context().i64_type();
        match value {
            Some(BasicValueEnum::IntValue(n)) => {
                self.builder.build_int_cast_sign_flag(n, word, true, "")
            }
            Some(BasicValueEnum::PointerValue(p)) => self.builder.build_ptr_to_int(p, word, ""),
            _ => Ok(word.const_zero()),
        }
    }

    fn is_zero(&self, a: IntValue<'m>) -> Built<IntValue<'m>> {
        let zero = a.get_type().const_zero();
        self.builder.build_int_compare(IntPredicate::EQ, a, zero, "")
    }

    fn choose(
        &self,
        condition: IntValue<'m>,
        then: IntValue<'m>,
        otherwise: IntValue<'m>,
    ) -> Built<IntValue<'m>> {
        let chosen = self.builder.build_select(condition, then, otherwise, "")?;
        Ok(chosen.into_int_value())
    }
}
