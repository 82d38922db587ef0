//! `--contech-mode=workspan`: code counts operations and tells the on-line profiler about
//! invocations (`workspan::abi`).
//!
//! ```text
//! entry:   acc = 0                                a register
//! blocks:  acc += operations of the piece
//! E:       event ENTER                            where it is certain enough that something will be called
//! calls:   left -= acc; acc = 0
//! syncs:   event SYNC, or synced = acc + 2 if nothing is called from there to the return
//! returns: event LEAVE behind E, LEAF where E was not passed, DONE (with synced) if either
//! ```
//!
//! E is the nearest place that comes before all calls and is in no loop: the base case of a
//! recursion, which returns without passing E, costs one event.

use inkwell::IntPredicate;
use inkwell::attributes::AttributeLoc;
use inkwell::builder::{Builder, BuilderError};
use inkwell::intrinsics::Intrinsic;
use inkwell::module::{Linkage, Module};
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, IntValue, PointerValue};
use workspan::abi::{self, State};

pub(crate) use self::events::Log;
use self::places::{Passed, enters, is_copy, last_syncs, takes_time};
use crate::emit::Built;
use crate::ir;
use crate::plan::{End, FunctionPlan};
use crate::select::MARK;

mod events;
mod places;

/// Instruments one function.
pub(crate) fn emit<'m>(
    module: &Module<'m>,
    f: FunctionValue<'m>,
    plan: &FunctionPlan<'m>,
    log: Log<'m>,
) -> Result<(), String> {
    let first = f
        .get_first_basic_block()
        .and_then(|b| b.get_first_instruction())
        .ok_or("a function without instructions")?;
    let builder = module.get_context().create_builder();
    builder.position_before(&first);
    let word = module.get_context().i64_type();
    let operations = builder.build_alloca(word, "contech.ops").map_err(text)?;
    let entered = builder.build_alloca(word, "contech.entered").map_err(text)?;
    let slot = Intrinsic::find("llvm.addressofreturnaddress")
        .and_then(|i| i.get_declaration(module, &[ir::ptr_type(module).into()]))
        .ok_or("this LLVM has no llvm.addressofreturnaddress")?;
    let mut emitter = Emitter {
        builder,
        log,
        operations,
        entered,
        variable: variable(module, f),
        slot,
        checks: Vec::new(),
    };
    emitter.function(plan).map_err(text)?;
    emitter.finish().map_err(text)?;
    ir::promote(&[operations]);
    ir::promote(&[entered]);
    Ok(())
}

fn text(e: BuilderError) -> String {
    format!("cannot insert profiling code: {e}")
}

/// The function's own `workspan::abi::Function`.
fn variable<'m>(module: &Module<'m>, f: FunctionValue<'m>) -> PointerValue<'m> {
    let context = module.get_context();
    let words = u32::try_from(abi::FUNCTION_WORDS - 1).expect("a small constant");
    let words = context.i64_type().array_type(words);
    let code = f.as_global_value().as_pointer_value();
    let value = context.const_struct(&[code.into(), words.const_zero().into()], false);
    let global = module.add_global(value.get_type(), None, "contech.function");
    global.set_initializer(&value);
    global.set_linkage(Linkage::Internal);
    global.set_alignment(16);
    global.as_pointer_value()
}

/// Copies of up to this many bytes count by their operations. Reading the clock would take longer
/// than the copy.
const SHORT_COPY: u64 = 256;

struct Emitter<'m> {
    builder: Builder<'m>,
    log: Log<'m>,
    /// Operations that are not reported yet, and whether E was passed; both are allocas until the
    /// end.
    operations: PointerValue<'m>,
    entered: PointerValue<'m>,
    variable: PointerValue<'m>,
    slot: FunctionValue<'m>,
    /// Conditions on which the log must be read.
    checks: Vec<IntValue<'m>>,
}

impl<'m> Emitter<'m> {
    fn function(&mut self, plan: &FunctionPlan<'m>) -> Built {
        let zero = self.log.word.const_zero();
        self.builder.build_store(self.operations, zero)?;
        self.builder.build_store(self.entered, zero)?;
        let (enters, passed) = enters(plan);
        let last_syncs = last_syncs(plan);
        for (i, block) in plan.blocks.iter().enumerate() {
            let pieces = &plan.pieces[block.pieces.clone()];
            if enters == Some(i) {
                self.builder.position_before(&pieces[0].start);
                self.event(abi::ENTER, true, None)?;
                self.nothing_untold()?;
                let yes = self.log.word.const_int(1, false);
                self.builder.build_store(self.entered, yes)?;
            }
            for piece in pieces {
                self.builder.position_before(&piece.last);
                if !piece.silent {
                    self.count(piece.ir_ops)?;
                }
                if let End::Call { callee, .. } = &piece.end {
                    if last_syncs.contains(&piece.last) {
                        self.synced(piece.last)?;
                    } else {
                        self.call(piece.last, callee)?;
                    }
                }
            }
            let terminator = block.terminator;
            if terminator.get_opcode() == InstructionOpcode::Return {
                // Nothing may stand between a call that must be a tail call and its return.
                let at = terminator.get_previous_instruction();
                let at = at.filter(|&call| ir::is_must_tail(call)).unwrap_or(terminator);
                self.builder.position_before(&at);
                match passed[i] {
                    Passed::Never => self.event(abi::LEAF, true, None)?,
                    Passed::Always if last_syncs.is_empty() => {
                        self.event(abi::LEAVE, false, None)?
                    }
                    Passed::Always | Passed::Perhaps => {
                        let entered = self.load(self.entered)?;
                        self.event(abi::DONE, true, Some(entered))?;
                    }
                }
            }
        }
        self.foreign(plan)
    }

    /// `entered = acc + 2`, instead of an event for the sync.
    fn synced(&self, call: InstructionValue<'m>) -> Built {
        let own = self.load(self.operations)?;
        let two = self.log.word.const_int(2, false);
        let sum = self.builder.build_int_add(own, two, "")?;
        self.builder.build_store(self.entered, sum)?;
        call.erase_from_basic_block();
        Ok(())
    }

    /// `acc += n`.
    fn count(&self, n: u32) -> Built {
        let sum = self.builder.build_int_add(
            self.load(self.operations)?,
            self.log.word.const_int(u64::from(n), false),
            "",
        )?;
        self.builder.build_store(self.operations, sum)?;
        Ok(())
    }

    /// `acc = 0`.
    fn nothing_untold(&self) -> Built {
        let zero = self.log.word.const_zero();
        self.builder.build_store(self.operations, zero).map(drop)
    }

    /// Handles a boundary call, or a mark of `contech/cilk.h`.
    fn call(&mut self, call: InstructionValue<'m>, callee: &str) -> Built {
        if callee == abi::CILK_SPAWN {
            let to = self.field(std::mem::offset_of!(State, spawn));
            let yes = self.log.word.const_int(abi::SPAWN, false);
            self.builder.build_store(to, yes)?;
            call.erase_from_basic_block();
            return Ok(());
        }
        if callee == abi::CILK_SYNC {
            self.event(abi::SYNC, false, None)?;
            self.nothing_untold()?;
            call.erase_from_basic_block();
            return Ok(());
        }
        // `left -= acc; acc = 0`.
        let own = self.load(self.operations)?;
        self.take(own)?;
        self.nothing_untold()
    }

    /// Marks calls of code whose operations are not counted.
    fn foreign(&self, plan: &FunctionPlan<'m>) -> Built {
        for inst in plan.blocks.iter().flat_map(|b| b.bb.get_instructions()) {
            // The callee's own events report its time.
            let tells = |f: FunctionValue<'_>| {
                f.get_string_attribute(AttributeLoc::Function, MARK).is_some()
            };
            if takes_time(inst) && !ir::called(inst).is_some_and(tells) {
                self.builder.position_before(&inst);
                self.mark_foreign(inst)?;
            }
        }
        Ok(())
    }

    /// `foreign = slot; least = all`, unless the call is a copy that turns out to be short.
    fn mark_foreign(&self, call: InstructionValue<'m>) -> Built {
        let foreign = self.field(std::mem::offset_of!(State, foreign));
        let least = self.field(std::mem::offset_of!(State, least));
        let slot = self.builder.build_ptr_to_int(self.slot()?, self.log.word, "")?;
        let all = self.log.word.const_int(i64::MAX.unsigned_abs(), false);
        // How many bytes an intrinsic copies or sets.
        let bytes = is_copy(call).then(|| ir::operand(call, 2).basic().into_int_value());
        let is_long = match bytes.map(|b| (b, b.get_zero_extended_constant())) {
            Some((_, Some(bytes))) if bytes <= SHORT_COPY => return Ok(()),
            None | Some((_, Some(_))) => None,
            Some((bytes, None)) => {
                let short = bytes.get_type().const_int(SHORT_COPY, false);
                let long = IntPredicate::UGT;
                Some(self.builder.build_int_compare(long, bytes, short, "")?)
            }
        };
        for (to, value) in [(foreign, slot), (least, all)] {
            let value = match is_long {
                Some(long) => {
                    let otherwise = self.load(to)?;
                    let either = self.builder.build_select(long, value, otherwise, "")?;
                    either.into_int_value()
                }
                None => value,
            };
            self.builder.build_store(to, value)?;
        }
        Ok(())
    }

    fn slot(&self) -> Built<PointerValue<'m>> {
        let call = self.builder.build_direct_call(self.slot, &[], "")?;
        Ok(call
            .try_as_basic_value()
            .expect_basic("the intrinsic gives an address")
            .into_pointer_value())
    }
}
