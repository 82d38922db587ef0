//! Loops over the iterations of OpenMP's work-sharing constructs: each iteration is a strand (`workspan::abi`,
//! `LOOP_*`).
//!
//! ```text
//! before a loop:      loop_begin(loop, slot, acc, flags); acc = 0
//! calls nothing:      at the end of an iteration  longest = max(longest, acc - start); start = acc; count += 1
//!                     after the loop              loop_told(loop, slot, acc, start, longest, count); acc = 0
//! calls something:    at the end of an iteration  loop_next(loop, slot, acc, flags); acc = 0
//!                     after the loop              loop_end(slot, acc, flags); acc = 0
//! ```
//!
//! The code is final when the pass sees it: where LLVM turned several iterations into one pass through the loop
//! (vectors, unrolling), that pass counts as the iteration. Where all passes have as many operations, the registers
//! are not needed.

mod emit;
mod told;

use std::collections::HashSet;

use contech_plain::say;
use inkwell::basic_block::BasicBlock;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, InstructionValue};
use workspan::abi;

use crate::ir::{self, LoopEvent};
use crate::source;

/// A loop over iterations, with the places where its code goes.
#[derive(Debug)]
struct Loop<'m> {
    /// The call that shares the iterations; its line is the loop's line in the source.
    shares: InstructionValue<'m>,
    flags: u64,
    preheader: Option<BasicBlock<'m>>,
    latches: Vec<BasicBlock<'m>>,
    exits: Vec<BasicBlock<'m>>,
    members: HashSet<BasicBlock<'m>>,
    /// The call by which LLVM replaced the loop.
    bulk: Option<InstructionValue<'m>>,
}

#[derive(Debug, Default)]
pub(crate) struct Loops<'m> {
    all: Vec<Loop<'m>>,
    /// The blocks before loops over chunks.
    chunks: Vec<BasicBlock<'m>>,
    added: HashSet<BasicBlock<'m>>,
    /// The calls that share iterations of loops that were not found.
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

    /// Prints which loops of the function were found (`--contech-explain`).
    pub(crate) fn explain(&self, name: &str) {
        let mut lines: Vec<u32> = self.all.iter().map(|of| source::line(of.shares)).collect();
        lines.dedup();
        for line in lines {
            say!("contech: {name}: the iterations shared at line {line} are strands");
        }
        for line in self.unseen.iter().map(|shares| source::line(*shares)) {
            say!(
                "contech: {name}: the iterations shared at line {line} are serial to the profile: the compiler left no loop"
            );
        }
    }

    /// The blocks that the program does not have.
    pub(crate) fn added(&self) -> &HashSet<BasicBlock<'m>> {
        &self.added
    }
}

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
