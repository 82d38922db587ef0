//! Loops over the iterations of OpenMP's work-sharing constructs: each iteration is a strand (`workspan::abi`, `LOOP_*`).
//!
//! ```text
//! before a loop:      loop_begin(loop, slot, acc, flags); acc = 0
//! calls nothing:      at the end of an iteration  longest = max(longest, acc - start); start = acc; count += 1
//!                     behind the loop             loop_told(loop, slot, acc, start, longest, count); acc = 0
//! calls something:    at the end of an iteration  loop_next(loop, slot, acc, flags); acc = 0
//!                     behind the loop             loop_end(slot, acc, flags); acc = 0
//! ```
//!
//! The code is final here: where LLVM made one pass through a loop of several iterations (vectors, unrolling), that pass
//! is the iteration. Where all passes are alike, the registers are not needed.

use std::collections::HashSet;

use inkwell::IntPredicate;
use inkwell::basic_block::BasicBlock;
use inkwell::builder::BuilderError;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionOpcode, InstructionValue, IntValue, PointerValue};
use workspan::abi;

use super::{Emitter, variable};
use crate::ir::{self, LoopEvent};
use crate::plan::{End, FunctionPlan};
use crate::source;

/// A loop over iterations, with the places its code is put at.
#[derive(Debug)]
struct Loop<'m> {
    /// The call that shares the iterations: where the loop is in the source.
    shares: InstructionValue<'m>,
    flags: u64,
    preheader: Option<BasicBlock<'m>>,
    latches: Vec<BasicBlock<'m>>,
    exits: Vec<BasicBlock<'m>>,
    members: HashSet<BasicBlock<'m>>,
    /// The call that the loop became instead.
    bulk: Option<InstructionValue<'m>>,
}

/// The loops of a function.
#[derive(Debug, Default)]
pub(crate) struct Loops<'m> {
    all: Vec<Loop<'m>>,
    /// Blocks before loops over chunks.
    chunks: Vec<BasicBlock<'m>>,
    added: HashSet<BasicBlock<'m>>,
    /// Calls that share iterations, of loops that are not seen.
    unseen: Vec<InstructionValue<'m>>,
}

impl<'m> Loops<'m> {
    /// Finds the loops, and makes places for their code.
    pub(crate) fn find(f: FunctionValue<'m>) -> Self {
        let mut loops = Self::default();
        for event in ir::work_sharing_loops(f) {
            let last = loops.all.last_mut();
            match (event, last) {
                (LoopEvent::Begins(shares, flags), _) => loops.all.push(Loop {
                    shares,
                    flags,
                    preheader: None,
                    latches: Vec::new(),
                    exits: Vec::new(),
                    members: HashSet::new(),
                    bulk: None,
                }),
                (LoopEvent::Unseen(shares), _) => loops.unseen.push(shares),
                (LoopEvent::Chunks(block), _) => loops.chunks.push(block),
                (LoopEvent::Added(block), _) => {
                    loops.added.insert(block);
                }
                (LoopEvent::Bulk(call), Some(last)) => last.bulk = Some(call),
                (LoopEvent::Preheader(block), Some(last)) => last.preheader = Some(block),
                (LoopEvent::Latch(block), Some(last)) => last.latches.push(block),
                (LoopEvent::Exit(block), Some(last)) => last.exits.push(block),
                (LoopEvent::Member(block), Some(last)) => {
                    last.members.insert(block);
                }
                (_, None) => {}
            }
        }
        loops
    }

    /// Says on standard error which loops of the function are seen (`--contech-explain`).
    pub(crate) fn explain(&self, name: &str) {
        let mut lines: Vec<u32> = self.all.iter().map(|of| source::line(of.shares)).collect();
        lines.dedup();
        for line in lines {
            eprintln!("contech: {name}: the iterations shared at line {line} are strands");
        }
        for line in self.unseen.iter().map(|shares| source::line(*shares)) {
            eprintln!(
                "contech: {name}: the iterations shared at line {line} are serial to the profile: the compiler left no loop"
            );
        }
    }

    /// Blocks that are none of the program's.
    pub(crate) fn added(&self) -> &HashSet<BasicBlock<'m>> {
        &self.added
    }
}

/// The profiler's functions for loops.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hooks<'m> {
    begin: FunctionValue<'m>,
    told: FunctionValue<'m>,
    next: FunctionValue<'m>,
    end: FunctionValue<'m>,
    bulk: FunctionValue<'m>,
    chunks: FunctionValue<'m>,
}

impl<'m> Hooks<'m> {
    /// Declares them in the module.
    pub(super) fn declare(module: &Module<'m>) -> Self {
        let context = module.get_context();
        let (ptr, word) = (ir::ptr_type(module).into(), context.i64_type().into());
        let declare = |name, arguments: &[_]| {
            let ty = context.void_type().fn_type(arguments, false);
            module
                .get_function(name)
                .unwrap_or_else(|| module.add_function(name, ty, None))
        };
        Self {
            begin: declare(abi::LOOP_BEGIN, &[ptr, ptr, word, word]),
            told: declare(abi::LOOP_TOLD, &[ptr, ptr, word, word, word, word]),
            next: declare(abi::LOOP_NEXT, &[ptr, ptr, word, word]),
            end: declare(abi::LOOP_END, &[ptr, word, word]),
            bulk: declare(abi::LOOP_BULK, &[ptr, ptr, word, word]),
            chunks: declare(abi::LOOP_CHUNKS, &[ptr, word]),
        }
    }
}

/// How the iterations of a loop are told.
#[derive(Debug)]
enum Told<'m> {
    /// Each by a call.
    Calls,
    /// All at once: this call.
    Bulk(InstructionValue<'m>),
    /// All at once; each has this many operations.
    Alike(u64),
    /// All at once; allocas until the end.
    Registers {
        start: PointerValue<'m>,
        longest: PointerValue<'m>,
        count: PointerValue<'m>,
    },
}

/// A loop to emit code for.
#[derive(Debug)]
struct Ready<'a, 'm> {
    of: &'a Loop<'m>,
    /// What its code goes before.
    before: InstructionValue<'m>,
    variable: PointerValue<'m>,
    flags: u64,
    told: Told<'m>,
}

/// What is to be emitted for the loops of a function.
#[derive(Debug)]
pub(super) struct Registers<'a, 'm> {
    ready: Vec<Ready<'a, 'm>>,
    chunks: &'a [BasicBlock<'m>],
}

impl Registers<'_, '_> {
    /// Turns the allocas into registers.
    pub(super) fn promote(&self) {
        for of in &self.ready {
            if let Told::Registers {
                start,
                longest,
                count,
            } = of.told
            {
                [start, longest, count].into_iter().for_each(ir::promote);
            }
        }
    }
}

/// Operations of a pass through the loop if there is only one way through it.
fn alike(of: &Loop<'_>, plan: &FunctionPlan<'_>) -> Option<u64> {
    let &[latch] = of.latches.as_slice() else {
        return None;
    };
    let mut operations = 0;
    for block in &plan.blocks {
        let Some(at) = block.terminator.get_parent() else {
            continue;
        };
        if !of.members.contains(&at) {
            continue;
        }
        if at != latch && ir::successors(block.terminator).len() != 1 {
            return None;
        }
        let pieces = plan.pieces[block.pieces.clone()].iter();
        operations += pieces
            .filter(|piece| !piece.silent)
            .map(|piece| u64::from(piece.ir_ops))
            .sum::<u64>();
    }
    (operations > 0).then_some(operations)
}

impl<'m> Emitter<'m> {
    /// Prepares the function's loops; `first` is its first instruction.
    pub(super) fn loops<'a>(
        &self,
        module: &Module<'m>,
        f: FunctionValue<'m>,
        first: &InstructionValue<'m>,
        plan: &FunctionPlan<'m>,
        loops: &'a Loops<'m>,
    ) -> Result<Registers<'a, 'm>, BuilderError> {
        let calls = |of: &Loop<'m>| {
            plan.blocks.iter().any(|block| {
                let within = block.terminator.get_parent();
                within.is_some_and(|at| of.members.contains(&at))
                    && plan.pieces[block.pieces.clone()]
                        .iter()
                        .any(|piece| matches!(piece.end, End::Call { .. }))
            })
        };
        let calling: Vec<bool> = loops.all.iter().map(calls).collect();
        let mut ready = Vec::new();
        let mut known: Vec<(InstructionValue<'m>, PointerValue<'m>)> = Vec::new();
        for (of, &calls) in loops.all.iter().zip(&calling) {
            let end = of.preheader.and_then(|block| block.get_terminator());
            let Some(before) = of.bulk.or(end) else {
                continue;
            };
            let Some(at) = before.get_parent() else {
                continue;
            };
            let around = loops.all.iter().zip(&calling);
            let depth = around
                .filter(|(outer, calls)| **calls && outer.members.contains(&at))
                .count() as u64;
            if depth >= abi::LOOPS_DEEP {
                continue;
            }
            let told = if let Some(call) = of.bulk {
                Told::Bulk(call)
            } else if calls {
                Told::Calls
            } else if let Some(operations) = alike(of, plan) {
                Told::Alike(operations)
            } else {
                self.builder.position_before(first);
                let register = |name| self.builder.build_alloca(self.word, name);
                Told::Registers {
                    start: register("contech.start")?,
                    longest: register("contech.longest")?,
                    count: register("contech.count")?,
                }
            };
            // Copies of one loop of the source have one call that shares their iterations.
            let variable = match known.iter().find(|(shares, _)| *shares == of.shares) {
                Some((_, variable)) => *variable,
                None => variable(module, f),
            };
            known.push((of.shares, variable));
            ready.push(Ready {
                of,
                before,
                variable,
                flags: of.flags
                    | if calls { abi::LOOP_CALLS } else { 0 }
                    | depth << abi::LOOP_DEPTH,
                told,
            });
        }
        Ok(Registers {
            ready,
            chunks: &loops.chunks,
        })
    }

    /// Emits the code of the loops, when that of their blocks is.
    pub(super) fn told(&self, registers: &Registers<'_, 'm>) -> Result<(), BuilderError> {
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

    /// At the end of an iteration.
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

    /// Behind the loop.
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

    /// Behind the call that the loop became.
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

    /// `acc = 0`.
    fn nothing_untold(&self) -> Result<(), BuilderError> {
        let zero = self.word.const_zero();
        self.builder.build_store(self.operations, zero).map(drop)
    }
}
