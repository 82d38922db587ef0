//! Writes at the cursor, for the code that a function's plan asks for.
//!
//! The cursor is an alloca while code is inserted and becomes SSA registers at the end. It is in
//! thread-local storage whenever other code of the thread may run: stored before boundary calls,
//! returns and unwinding, loaded at entry, after boundary calls and in landing pads.

use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::types::IntType;
use inkwell::values::{
    BasicValue, FunctionValue, GlobalValue, InstructionValue, IntValue, PointerValue,
};

use crate::ir;
use crate::memop::Value;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Targets<'m> {
    pub(crate) ids: GlobalValue<'m>,
    /// Where the cursor and the limit are in thread-local storage.
    pub(crate) cursor: PointerValue<'m>,
    pub(crate) limit: PointerValue<'m>,
    /// The function that a check calls when the buffer is full.
    pub(crate) flush: FunctionValue<'m>,
}

pub(crate) fn text(e: BuilderError) -> String {
    format!("cannot insert recording code: {e}")
}

pub(crate) type Built<T = ()> = Result<T, BuilderError>;

/// Writes at the cursor, which is an alloca while code is inserted.
pub(crate) struct Writer<'m> {
    pub(crate) context: ContextRef<'m>,
    pub(crate) builder: Builder<'m>,
    pub(crate) cursor: PointerValue<'m>,
    targets: Targets<'m>,
    /// Conditions of the checks whose slow path is not made yet.
    checks: Vec<IntValue<'m>>,
}

impl<'m> Writer<'m> {
    /// Stands at the beginning of the function, behind the cursor's alloca.
    pub(crate) fn new(
        module: &Module<'m>,
        f: FunctionValue<'m>,
        targets: Targets<'m>,
    ) -> Result<Self, String> {
        let context = module.get_context();
        let builder = context.create_builder();
        let first = ir::instructions(f).next().ok_or("a function without instructions")?;
        builder.position_before(&first);
        let cursor = builder.build_alloca(ir::ptr_type(module), "contech.cursor").map_err(text)?;
        Ok(Writer { context, builder, cursor, targets, checks: Vec::new() })
    }

    /// The address that stands for an id.
    pub(crate) fn id(&self, n: u64) -> PointerValue<'m> {
        ir::global_offset(self.targets.ids, n)
    }

    /// The pointer that is in `from`.
    pub(crate) fn load(&self, from: PointerValue<'m>) -> Built<PointerValue<'m>> {
        Ok(self.builder.build_load(from.get_type(), from, "")?.into_pointer_value())
    }

    pub(crate) fn load_cursor(&self) -> Built<PointerValue<'m>> {
        self.load(self.cursor)
    }

    /// Moves the cursor to so many bytes behind `base`.
    pub(crate) fn advance(&self, base: PointerValue<'m>, bytes: u64) -> Built {
        let next = ir::offset(&self.builder, base, bytes)?;
        self.builder.build_store(self.cursor, next).map(drop)
    }

    /// Stores a value so many bytes behind `base`, which may be anywhere.
    pub(crate) fn put(&self, base: PointerValue<'m>, at: u64, value: impl BasicValue<'m>) -> Built {
        let to = ir::offset(&self.builder, base, at)?;
        let store = self.builder.build_store(to, value)?;
        store.set_alignment(1).expect("a store has an alignment, and 1 is one");
        Ok(())
    }

    /// Stores values of the program at the cursor, each before its instruction and as so many bytes,
    /// and moves the cursor behind them.
    pub(crate) fn values(
        &self,
        values: impl IntoIterator<Item = (InstructionValue<'m>, Value, u64)>,
    ) -> Built {
        let (mut base, mut at) = (None, 0);
        for (place, value, bytes) in values {
            self.builder.position_before(&place);
            let base = match base {
                Some(base) => base,
                None => *base.insert(self.load_cursor()?),
            };
            let ty = match bytes {
                1 => self.context.i8_type(),
                2 => self.context.i16_type(),
                4 => self.context.i32_type(),
                _ => self.context.i64_type(),
            };
            self.value(value, ty, base, at)?;
            at += bytes;
        }
        base.map_or(Ok(()), |base| self.advance(base, at))
    }

    /// Stores a value of the program so many bytes behind `base`; a number or mask, whose lane 0 is
    /// in bit 0, gets the type and is extended by zeros.
    fn value(&self, value: Value, ty: IntType<'m>, base: PointerValue<'m>, at: u64) -> Built {
        let builder = &self.builder;
        match value {
            Value::Plain(v) if v.basic().is_pointer_value() => self.put(base, at, v.basic()),
            Value::Plain(v) => {
                let number = v.basic().into_int_value();
                self.put(base, at, builder.build_int_cast_sign_flag(number, ty, false, "")?)
            }
            Value::Lane(v, i) => {
                let vector = v.basic().into_vector_value();
                let i = self.context.i32_type().const_int(u64::from(i), false);
                self.put(base, at, builder.build_extract_element(vector, i, "")?)
            }
            Value::Mask(v) => {
                let vector = v.basic().into_vector_value();
                let bits = ir::bits_type(self.context, vector.get_type().get_size());
                let mask = builder.build_bit_cast(vector, bits, "")?.into_int_value();
                self.put(base, at, builder.build_int_cast_sign_flag(mask, ty, false, "")?)
            }
        }
    }

    /// Stores a value of so many bytes at the cursor, and moves the cursor behind it.
    pub(crate) fn append(&self, value: impl BasicValue<'m>, bytes: u64) -> Built {
        let base = self.load_cursor()?;
        self.put(base, 0, value)?;
        self.advance(base, bytes)
    }

    /// Loads the cursor before `inst`, from the slot if there is one, else from thread-local
    /// storage.
    pub(crate) fn reload(
        &self,
        inst: InstructionValue<'m>,
        slot: Option<PointerValue<'m>>,
    ) -> Built {
        self.builder.position_before(&inst);
        let value = self.load(slot.unwrap_or(self.targets.cursor))?;
        self.builder.build_store(self.cursor, value).map(drop)
    }

    /// Stores the cursor before `inst`, to the slot if there is one, else to thread-local storage.
    pub(crate) fn sync(&self, inst: InstructionValue<'m>, slot: Option<PointerValue<'m>>) -> Built {
        self.builder.position_before(&inst);
        let value = self.load_cursor()?;
        self.builder.build_store(slot.unwrap_or(self.targets.cursor), value).map(drop)
    }

    /// Whether the buffer has no room.
    pub(crate) fn is_full(&self) -> Built<IntValue<'m>> {
        let cursor = self.load_cursor()?;
        let limit = self.load(self.targets.limit)?;
        self.builder.build_int_compare(IntPredicate::UGE, cursor, limit, "")
    }

    /// Compares here; the slow path is added when all code is in place.
    pub(crate) fn check(&mut self) -> Built {
        self.checks.push(self.is_full()?);
        Ok(())
    }

    /// Adds the slow paths.
    pub(crate) fn finish_checks(&mut self) -> Built {
        for condition in std::mem::take(&mut self.checks) {
            self.builder.position_before(&ir::split_unlikely(condition));
            self.flush(self.load_cursor()?)?;
        }
        Ok(())
    }

    /// Calls the function that makes room, with the cursor, which it returns.
    pub(crate) fn flush(&self, cursor: PointerValue<'m>) -> Built {
        let call = self.builder.build_direct_call(self.targets.flush, &[cursor.into()], "")?;
        call.set_call_convention(ir::PRESERVE_ALL);
        let next = call.try_as_basic_value().expect_basic("flush returns the cursor");
        self.builder.build_store(self.cursor, next).map(drop)
    }
}
