//! Inserts the code that a function's plan asks for.
//!
//! The cursor is an alloca while code is inserted and becomes SSA registers at the end. It is in
//! thread-local storage whenever other code of the thread may run: stored before boundary calls,
//! returns and unwinding, loaded at entry, after boundary calls and in landing pads.

use contech_trace::abi::{ADDRESS_BYTES, ID_BYTES, MASK_BYTES};
use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::context::ContextRef;
use inkwell::module::Module;
use inkwell::values::{
    BasicValue, FunctionValue, GlobalValue, InstructionOpcode, InstructionValue, IntValue,
    PointerValue,
};

use crate::carry::Carried;
use crate::ir;
use crate::memop::Value;
use crate::plan::{BlockPlan, Entered, FunctionPlan, Piece};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Targets<'m> {
    pub(crate) tls: GlobalValue<'m>,
    pub(crate) ids: GlobalValue<'m>,
    /// Offsets in `tls` of the cursor and of the limit in use.
    pub(crate) cursor: u64,
    pub(crate) limit: u64,
    /// The function that a check calls when the buffer is full.
    pub(crate) flush: FunctionValue<'m>,
}

/// Instruments one function; the first piece that is not silent gets id `first_id`, the others
/// follow in order.
pub(crate) fn emit<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    plan: &FunctionPlan<'m>,
    targets: Targets<'m>,
    first_id: u64,
    carried: Carried<'m>,
) -> Result<(), String> {
    let context = module.get_context();
    let builder = context.create_builder();
    let first = f
        .get_first_basic_block()
        .and_then(|b| b.get_first_instruction())
        .ok_or("a function without instructions")?;
    builder.position_before(&first);
    let cursor = builder.build_alloca(ir::ptr_type(module), "contech.cursor").map_err(text)?;
    let mut emitter = Emitter {
        context,
        builder,
        targets,
        cursor,
        carried,
        checks: Vec::new(),
        next_id: first_id,
    };
    emitter.function(plan).map_err(text)?;
    emitter.finish_checks().map_err(text)?;
    ir::promote(cursor);
    Ok(())
}

fn text(e: BuilderError) -> String {
    format!("cannot insert recording code: {e}")
}

struct Emitter<'m> {
    context: ContextRef<'m>,
    builder: Builder<'m>,
    targets: Targets<'m>,
    cursor: PointerValue<'m>,
    carried: Carried<'m>,
    /// Conditions of the checks whose slow path is not made yet.
    checks: Vec<IntValue<'m>>,
    next_id: u64,
}

impl<'m> Emitter<'m> {
    fn function(&mut self, plan: &FunctionPlan<'m>) -> Result<(), BuilderError> {
        for (i, block) in plan.blocks.iter().enumerate() {
            let pieces = &plan.pieces[block.pieces.clone()];
            let Some(head) = pieces.first() else { continue };
            // Whether the cursor in the register may differ from the one in thread-local storage.
            let mut dirty = true;
            let entered = match block.entered {
                Entered::Branch if i != 0 => None,
                Entered::Branch => Some(self.carried.argument),
                Entered::Carried => Some(self.carried.slot),
                Entered::Invoke => Some(None),
            };
            if let Some(from) = entered {
                self.reload(head.start, from)?;
                dirty = from.is_some();
            }
            for (k, piece) in pieces.iter().enumerate() {
                dirty |= self.piece(piece)?;
                if piece.ends_with_call() {
                    let slot = self.carried.slot.filter(|_| piece.carries);
                    if dirty || slot.is_some() {
                        self.sync(piece.last, slot)?;
                    }
                    dirty = slot.is_some();
                    let through = slot.is_some() || self.carried.argument.is_some();
                    if let Some(next) = pieces.get(k + 1).filter(|n| through || !leaves(n)) {
                        self.reload(next.start, slot)?;
                    }
                }
            }
            self.end(block, dirty)?;
        }
        Ok(())
    }

    /// Room check and record of one piece. Returns whether the cursor moved.
    fn piece(&mut self, piece: &Piece<'m>) -> Result<bool, BuilderError> {
        if piece.silent {
            return Ok(false);
        }
        if piece.check {
            self.check(piece.start)?;
        }
        let mut at = 0;
        let mut base = None;
        for planned in &piece.ops {
            self.builder.position_before(&planned.inst);
            let base = match base {
                Some(base) => base,
                None => *base.insert(self.load_cursor()?),
            };
            for value in &planned.values {
                at += self.value(*value, base, at)?;
            }
        }
        self.builder.position_before(&piece.last);
        let base = match base {
            Some(base) => base,
            None => self.load_cursor()?,
        };
        // The code stores the whole address, of which 4 bytes count: `lea ids+k(%rip); mov`. A
        // truncated constant would cost one addition more.
        let id = ir::global_offset(self.targets.ids, self.next_id);
        self.next_id += 1;
        self.put(base, at, id)?;
        let next = self.offset(base, at + ID_BYTES as u64)?;
        self.builder.build_store(self.cursor, next)?;
        Ok(true)
    }

    /// Writes one value at `base + at`; returns the width in which it is recorded.
    fn value(
        &self,
        value: Value<'m>,
        base: PointerValue<'m>,
        at: u64,
    ) -> Result<u64, BuilderError> {
        let i64_type = self.context.i64_type();
        match value {
            Value::Address(p) => self.put(base, at, p)?,
            Value::Lane(vector, i) => self.put(base, at, ir::lane(&self.builder, vector, i))?,
            Value::Length(n) => self.put(base, at, ir::to_u64(&self.builder, n, i64_type))?,
            Value::Mask(mask) => {
                self.put(base, at, ir::mask_to_u64(&self.builder, mask, i64_type))?;
                return Ok(MASK_BYTES as u64);
            }
        }
        Ok(ADDRESS_BYTES as u64)
    }

    fn end(&mut self, block: &BlockPlan<'m>, dirty: bool) -> Result<(), BuilderError> {
        if block.check_at_end {
            self.check(block.terminator)?;
        }
        match block.terminator.get_opcode() {
            InstructionOpcode::Return if self.carried.argument.is_some() => {
                self.sync(block.terminator, self.carried.argument)
            }
            InstructionOpcode::Return | InstructionOpcode::Resume if dirty => {
                self.sync(block.terminator, None)
            }
            _ => Ok(()),
        }
    }

    /// Compares before `inst`; the slow path is added when all code is in place.
    fn check(&mut self, inst: InstructionValue<'m>) -> Result<(), BuilderError> {
        self.builder.position_before(&inst);
        let cursor = self.load_cursor()?;
        let limit = ir::global_offset(self.targets.tls, self.targets.limit);
        let limit = self.load(limit)?;
        self.checks.push(self.builder.build_int_compare(IntPredicate::UGE, cursor, limit, "")?);
        Ok(())
    }

    fn finish_checks(&mut self) -> Result<(), BuilderError> {
        for condition in std::mem::take(&mut self.checks) {
            let end = ir::split_unlikely(condition);
            self.builder.position_before(&end);
            let cursor = self.load_cursor()?;
            let next = ir::flush(&self.builder, self.targets.flush, cursor)?;
            self.builder.build_store(self.cursor, next)?;
        }
        Ok(())
    }

    /// Loads the cursor before `inst`, from the slot if there is one, else from thread-local
    /// storage.
    fn reload(
        &self,
        inst: InstructionValue<'m>,
        slot: Option<PointerValue<'m>>,
    ) -> Result<(), BuilderError> {
        self.builder.position_before(&inst);
        let value = self.load(slot.unwrap_or_else(|| self.thread_local()))?;
        self.builder.build_store(self.cursor, value)?;
        Ok(())
    }

    /// Stores the cursor before `inst`, to the slot if there is one, else to thread-local storage.
    fn sync(
        &self,
        inst: InstructionValue<'m>,
        slot: Option<PointerValue<'m>>,
    ) -> Result<(), BuilderError> {
        self.builder.position_before(&inst);
        let value = self.load_cursor()?;
        let slot = slot.unwrap_or_else(|| self.thread_local());
        self.builder.build_store(slot, value)?;
        Ok(())
    }

    fn thread_local(&self) -> PointerValue<'m> {
        ir::global_offset(self.targets.tls, self.targets.cursor)
    }

    fn load_cursor(&self) -> Result<PointerValue<'m>, BuilderError> {
        self.load(self.cursor)
    }

    fn load(&self, from: PointerValue<'m>) -> Result<PointerValue<'m>, BuilderError> {
        ir::load(&self.builder, from)
    }

    fn put(
        &self,
        base: PointerValue<'m>,
        at: u64,
        value: impl BasicValue<'m>,
    ) -> Result<(), BuilderError> {
        ir::put(&self.builder, base, at, value)
    }

    fn offset(&self, base: PointerValue<'m>, bytes: u64) -> Result<PointerValue<'m>, BuilderError> {
        ir::offset(&self.builder, base, bytes)
    }
}

/// Whether nothing after the call needs the cursor: the caller returns at once, or the call never
/// comes back.
fn leaves(piece: &Piece<'_>) -> bool {
    piece.silent
        && matches!(
            piece.last.get_opcode(),
            InstructionOpcode::Return | InstructionOpcode::Unreachable
        )
}
