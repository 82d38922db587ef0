//! Events in the thread's log (`workspan::abi::Event`). An event is written without a branch; the
//! branch to the profiler follows when all code of the function is in place.

use std::cell::RefCell;

use inkwell::IntPredicate;
use inkwell::builder::{Builder, BuilderError};
use inkwell::module::Module;
use inkwell::types::{FunctionType, IntType};
use inkwell::values::{FunctionValue, GlobalValue, IntValue, PointerValue};
use inkwell::{AtomicOrdering, InlineAsmDialect};
use workspan::abi::{self, Event, State};

use crate::descriptor::thread_local;
use crate::ir;

/// LLVM's number of the calling convention `preserve_most`.
const PRESERVE_MOST: u32 = 14;

/// The thread's state and log, and the function that reads the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log<'m> {
    state: GlobalValue<'m>,
    due: FunctionValue<'m>,
    word: IntType<'m>,
    /// An instruction that subtracts a number from [`State::left`], at the address, and one that
    /// claims room for an event. The result is the old value of [`State::next`].
    claim: (FunctionType<'m>, PointerValue<'m>),
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'m> {
    pub(super) kind: u64,
    pub(super) slot: PointerValue<'m>,
    /// For an invocation that reports for the first time: its function's variable and its own
    /// operations.
    pub(super) arrival: Option<(PointerValue<'m>, IntValue<'m>)>,
    pub(super) synced: Option<IntValue<'m>>,
}

/// Conditions on which the log must be read.
pub(super) type Checks<'m> = RefCell<Vec<IntValue<'m>>>;

impl<'m> Log<'m> {
    pub(crate) fn declare(module: &Module<'m>) -> Self {
        let context = module.get_context();
        let (ptr, word) = (ir::ptr_type(module), context.i64_type());
        let words = u32::try_from(size_of::<State>() / 8).expect("a small constant");
        let state = thread_local(module, abi::STATE, word.array_type(words), 64);
        let due = module.get_function(abi::DUE).unwrap_or_else(|| {
            let due = module.add_function(abi::DUE, context.void_type().fn_type(&[], false), None);
            due.set_call_conventions(PRESERVE_MOST);
            // The function is called through its address, because a lazy-binding stub changes r10.
            ir::add_attributes(module, due, &["cold", "nounwind", "nonlazybind"]);
            due
        });
        ir::allow_assembly();
        let claims = word.fn_type(&[ptr.into(), word.into(), word.into()], false);
        let (left, next) = (std::mem::offset_of!(State, left), std::mem::offset_of!(State, next));
        let claim = context.create_inline_asm(
            claims,
            format!("subq $2, {left}($1)\n\txaddq $0, {next}($1)"),
            "=&r,r,re,0,~{memory},~{flags},~{dirflag},~{fpsr}".to_owned(),
            true,
            false,
            Some(InlineAsmDialect::ATT),
            false,
        );
        Self { state, due, word, claim: (claims, claim) }
    }

    /// The address of a field of the state.
    pub(super) fn field(&self, offset: usize) -> PointerValue<'m> {
        ir::global_offset(self.state, offset as u64)
    }

    fn constant(&self, n: usize) -> IntValue<'m> {
        self.word.const_int(n as u64, false)
    }

    /// `left -= n`, as one instruction, because nobody needs the difference.
    pub(super) fn take(&self, builder: &Builder<'m>, n: IntValue<'m>) -> Result<(), BuilderError> {
        let left = self.field(std::mem::offset_of!(State, left));
        let after = builder.build_int_sub(self.load(builder, left)?, n, "")?;
        builder.build_store(left, after).map(drop)
    }

    pub(super) fn load(
        &self,
        builder: &Builder<'m>,
        from: PointerValue<'m>,
    ) -> Result<IntValue<'m>, BuilderError> {
        Ok(builder.build_load(self.word, from, "")?.into_int_value())
    }

    /// Writes an event, after `own` operations that are not reported yet.
    pub(super) fn event(
        &self,
        builder: &Builder<'m>,
        own: IntValue<'m>,
        said: Said<'m>,
        checks: &Checks<'m>,
    ) -> Result<(), BuilderError> {
        let each = self.word.const_int(abi::EVENT_OPERATIONS, false);
        let taken = builder.build_int_add(own, each, "")?;
        let (ty, claim) = self.claim;
        let state = self.field(0);
        let size = self.constant(size_of::<Event>());
        let arguments = [state.into(), taken.into(), size.into()];
        let at = builder.build_indirect_call(ty, claim, &arguments, "")?;
        let at = at.try_as_basic_value().expect_basic("the claim gives a place").into_int_value();
        // The address is compared as a number, because the log may move.
        let few = self.field(std::mem::offset_of!(State, few));
        let few = builder.build_ptr_to_int(few, self.word, "")?;
        let at = builder.build_int_add(few, at, "")?;
        let put = |offset: usize, value: IntValue<'m>| {
            let to = builder.build_int_add(at, self.constant(offset), "")?;
            let to = builder.build_int_to_ptr(to, said.slot.get_type(), "")?;
            builder.build_store(to, value)
        };
        let slot = builder.build_ptr_to_int(said.slot, self.word, "")?;
        put(std::mem::offset_of!(Event, slot), slot)?;
        if let Some((_, own)) = said.arrival {
            put(std::mem::offset_of!(Event, own), own)?;
            put(std::mem::offset_of!(Event, from), self.load(builder, said.slot)?)?;
        }
        if let Some(synced) = said.synced {
            put(std::mem::offset_of!(Event, synced), synced)?;
        }
        let left = self.load(builder, self.field(std::mem::offset_of!(State, left)))?;
        put(std::mem::offset_of!(Event, left), left)?;
        let spawn = self.field(std::mem::offset_of!(State, spawn));
        let mut what = self.word.const_int(said.kind, false);
        if let Some((function, _)) = said.arrival {
            // The sum is aligned, and the linker computes it as a constant.
            what = function.const_to_int(self.word).const_add(what);
            what = builder.build_int_add(what, self.load(builder, spawn)?, "")?;
        }
        builder.build_store(spawn, self.word.const_zero())?;
        builder.build_fence(AtomicOrdering::Release, true, "")?;
        put(std::mem::offset_of!(Event, what), what)?;
        let least = self.load(builder, self.field(std::mem::offset_of!(State, least)))?;
        let due = builder.build_int_compare(IntPredicate::SLT, left, least, "")?;
        checks.borrow_mut().push(due);
        Ok(())
    }

    /// Adds the branches. After this, nothing may be inserted by its place in a block.
    pub(super) fn check(
        &self,
        builder: &Builder<'m>,
        checks: Checks<'m>,
    ) -> Result<(), BuilderError> {
        for due in checks.into_inner() {
            let end = ir::split_unlikely(due);
            builder.position_before(&end);
            let call = builder.build_direct_call(self.due, &[], "")?;
            call.set_call_convention(PRESERVE_MOST);
        }
        Ok(())
    }
}
