//! The code of the loops: before them, at the end of an iteration, and after them.

use inkwell::IntPredicate;
use inkwell::builder::BuilderError;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, IntValue};

use super::told::{Ready, Registers, Told};
use crate::ir;
use crate::online::Emitter;

impl<'m> Emitter<'m> {
    /// Emits the code of the loops, once that of their blocks is in place.
    pub(in crate::online) fn told(
        &self,
        registers: &Registers<'_, 'm>,
    ) -> Result<(), BuilderError> {
        for block in registers.chunks {
            if let Some(end) = block.get_terminator() {
                self.builder.position_before(&end);
                let arguments = [self.slot()?.into(), self.load(self.operations)?.into()];
                let chunks = self.hooks.loops.chunks;
                self.builder.build_direct_call(chunks, &arguments, "")?;
                self.nothing_untold()?;
            }
        }
        for of in &registers.ready {
            self.begin(of)?;
            if let Told::Bulk(call) = of.told {
                self.copied(of, call)?;
            }
            for end in of.of.latches.iter().filter_map(|b| b.get_terminator()) {
                self.builder.position_before(&end);
                self.iterated(of)?;
            }
            for exit in &of.of.exits {
                let mut first = exit.get_first_instruction();
                while let Some(phi) = first.filter(|i| i.get_opcode() == InstructionOpcode::Phi) {
                    first = phi.get_next_instruction();
                }
                if let Some(first) = first {
                    self.builder.position_before(&first);
                    self.ended(of)?;
                }
            }
        }
        Ok(())
    }

    fn begin(&self, of: &Ready<'_, 'm>) -> Result<(), BuilderError> {
        self.builder.position_before(&of.before);
        let zero = self.word.const_zero();
        if let Some(location) = of.of.shares.get_debug_location() {
            self.builder.set_current_debug_location(location);
        }
        let begin = self.hooks.loops.begin;
        self.hook(of, begin)?;
        if let Told::Registers {
            start,
            longest,
            count,
        } = of.told
        {
            for register in [start, longest, count] {
                self.builder.build_store(register, zero)?;
            }
        }
        Ok(())
    }

    /// Emits the code at the end of an iteration.
    fn iterated(&self, of: &Ready<'_, 'm>) -> Result<(), BuilderError> {
        match of.told {
            Told::Alike(_) | Told::Bulk(_) => Ok(()),
            Told::Calls => self.hook(of, self.hooks.loops.next),
            Told::Registers {
                start,
                longest,
                count,
            } => {
                let builder = &self.builder;
                let now = self.load(self.operations)?;
                let this = builder.build_int_sub(now, self.load(start)?, "")?;
                let most = self.load(longest)?;
                let more = builder.build_int_compare(IntPredicate::UGT, this, most, "")?;
                let most = builder.build_select(more, this, most, "")?;
                builder.build_store(longest, most)?;
                builder.build_store(start, now)?;
                let one = self.word.const_int(1, false);
                let counted = builder.build_int_add(self.load(count)?, one, "")?;
                builder.build_store(count, counted).map(drop)
            }
        }
    }

    /// Emits the code after the loop.
    fn ended(&self, of: &Ready<'_, 'm>) -> Result<(), BuilderError> {
        let all = self.load(self.operations)?;
        let (within, longest, count) = match of.told {
            Told::Bulk(_) => return Ok(()),
            Told::Calls => {
                let flags = self.word.const_int(of.flags, false);
                let arguments = [self.slot()?.into(), all.into(), flags.into()];
                let end = self.hooks.loops.end;
                self.builder.build_direct_call(end, &arguments, "")?;
                return self.nothing_untold();
            }
            Told::Alike(each) => {
                let each = self.word.const_int(each, false);
                let count = self.builder.build_int_unsigned_div(all, each, "")?;
                (all, each, count)
            }
            Told::Registers {
                start,
                longest,
                count,
            } => (self.load(start)?, self.load(longest)?, self.load(count)?),
        };
        let numbers: [IntValue<'m>; 4] = [all, within, longest, count];
        let mut arguments = vec![of.variable.into(), self.slot()?.into()];
        arguments.extend(numbers.map(inkwell::values::BasicMetadataValueEnum::from));
        let told = self.hooks.loops.told;
        self.builder.build_direct_call(told, &arguments, "")?;
        self.nothing_untold()
    }

    /// Emits the code after the call by which LLVM replaced the loop.
    fn copied(&self, of: &Ready<'_, 'm>, call: InstructionValue<'m>) -> Result<(), BuilderError> {
        if let Some(next) = call.get_next_instruction() {
            self.builder.position_before(&next);
            let bytes = ir::to_u64(&self.builder, ir::operand(call, 2), self.word).into();
            let own = self.load(self.operations)?.into();
            let arguments = [of.variable.into(), self.slot()?.into(), own, bytes];
            let bulk = self.hooks.loops.bulk;
            self.builder.build_direct_call(bulk, &arguments, "")?;
            self.nothing_untold()?;
        }
        Ok(())
    }

    /// `hook(loop, slot, acc, flags); acc = 0`.
    fn hook(&self, of: &Ready<'_, 'm>, hook: FunctionValue<'m>) -> Result<(), BuilderError> {
        let operations = self.load(self.operations)?;
        let flags = self.word.const_int(of.flags, false);
        let (variable, slot) = (of.variable.into(), self.slot()?.into());
        let arguments = [variable, slot, operations.into(), flags.into()];
        self.builder.build_direct_call(hook, &arguments, "")?;
        self.nothing_untold()
    }
}
