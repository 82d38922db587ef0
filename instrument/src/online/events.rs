//! Events in the thread's log (`workspan::abi::Event`). An event is written without a branch; the
//! branch to the profiler follows when all code of the function is in place.

use inkwell::IntPredicate;
use inkwell::module::Module;
use inkwell::types::{FunctionType, IntType};
use inkwell::values::{FunctionValue, GlobalValue, IntValue, PointerValue};
use inkwell::{AtomicOrdering, InlineAsmDialect};
use workspan::abi::{self, Event, State};

use super::Emitter;
use crate::descriptor::thread_local;
use crate::emit::Built;
use crate::ir;

/// LLVM's number of the calling convention `preserve_most`.
const PRESERVE_MOST: u32 = 14;

/// The thread's state and log, and the function that reads the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Log<'m> {
    state: GlobalValue<'m>,
    due: FunctionValue<'m>,
    pub(super) word: IntType<'m>,
    /// An instruction that subtracts a number from [`State::left`], at the address, and one that
    /// claims room for an event. The result is the old value of [`State::next`].
    claim: (FunctionType<'m>, PointerValue<'m>),
}

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
}

impl<'m> Emitter<'m> {
    /// The address of a field of the state.
    pub(super) fn field(&self, offset: usize) -> PointerValue<'m> {
        ir::global_offset(self.log.state, offset as u64)
    }

    fn constant(&self, n: usize) -> IntValue<'m> {
        self.log.word.const_int(n as u64, false)
    }

    /// `left -= n`, as one instruction, because nobody needs the difference.
    pub(super) fn take(&self, n: IntValue<'m>) -> Built {
        let left = self.field(std::mem::offset_of!(State, left));
        let after = self.builder.build_int_sub(self.load(left)?, n, "")?;
        self.builder.build_store(left, after).map(drop)
    }

    pub(super) fn load(&self, from: PointerValue<'m>) -> Built<IntValue<'m>> {
        Ok(self.builder.build_load(self.log.word, from, "")?.into_int_value())
    }

    /// Writes an event, after the operations that are not reported yet. `arrives` says that the
    /// invocation has not reported anything yet, or not for sure.
    pub(super) fn event(
        &mut self,
        kind: u64,
        arrives: bool,
        synced: Option<IntValue<'m>>,
    ) -> Built {
        let builder = &self.builder;
        let own = self.load(self.operations)?;
        let slot = self.slot()?;
        let taken = builder.build_int_add(
            own,
            self.log.word.const_int(abi::EVENT_OPERATIONS, false),
            "",
        )?;
        let (ty, claim) = self.log.claim;
        let size = self.constant(size_of::<Event>());
        let arguments = [self.field(0).into(), taken.into(), size.into()];
        let at = builder.build_indirect_call(ty, claim, &arguments, "")?;
        let at = at.try_as_basic_value().expect_basic("the claim gives a place").into_int_value();
        // The address is compared as a number, because the log may move.
        let few = self.field(std::mem::offset_of!(State, few));
        let few = builder.build_ptr_to_int(few, self.log.word, "")?;
        let at = builder.build_int_add(few, at, "")?;
        let put = |offset: usize, value: IntValue<'m>| {
            let to = builder.build_int_add(at, self.constant(offset), "")?;
            let to = builder.build_int_to_ptr(to, slot.get_type(), "")?;
            builder.build_store(to, value)
        };
        let number = builder.build_ptr_to_int(slot, self.log.word, "")?;
        put(std::mem::offset_of!(Event, slot), number)?;
        if arrives {
            put(std::mem::offset_of!(Event, own), own)?;
            put(std::mem::offset_of!(Event, from), self.load(slot)?)?;
        }
        if let Some(synced) = synced {
            put(std::mem::offset_of!(Event, synced), synced)?;
        }
        let left = self.load(self.field(std::mem::offset_of!(State, left)))?;
        put(std::mem::offset_of!(Event, left), left)?;
        let spawn = self.field(std::mem::offset_of!(State, spawn));
        let mut what = self.log.word.const_int(kind, false);
        if arrives {
            // The sum is aligned, and the linker computes it as a constant.
            what = self.variable.const_to_int(self.log.word).const_add(what);
            what = builder.build_int_add(what, self.load(spawn)?, "")?;
        }
        builder.build_store(spawn, self.log.word.const_zero())?;
        builder.build_fence(AtomicOrdering::Release, true, "")?;
        put(std::mem::offset_of!(Event, what), what)?;
        let least = self.load(self.field(std::mem::offset_of!(State, least)))?;
        let due = builder.build_int_compare(IntPredicate::SLT, left, least, "")?;
        self.checks.push(due);
        Ok(())
    }

    /// Adds the branches to the profiler. After this, nothing may be inserted by its place in a
    /// block.
    pub(super) fn finish(self) -> Built {
        for due in self.checks {
            self.builder.position_before(&ir::split_unlikely(due));
            let call = self.builder.build_direct_call(self.log.due, &[], "")?;
            call.set_call_convention(PRESERVE_MOST);
        }
        Ok(())
    }
}
