//! Places in the program's source, for results that people read.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use taskgraph::{Block, BlockCounts, BlockId, Frame, FunctionId, OpId, StaticInfo};

use crate::view::names;

/// The function to show of those that execute at a line: the innermost one of the program, inlined
/// or not, or else that of a library which contains it all.
#[must_use]
pub fn shown(info: &StaticInfo, function: FunctionId, line: u32, inlined: u32) -> Frame<'_> {
    let mut shown = None;
    for frame in info.frames(function, line, inlined) {
        let own = !is_library(&frame);
        shown = Some(frame);
        if own {
            break;
        }
    }
    shown.unwrap_or(Frame { function: "", file: "", line: 0 })
}

/// Whether a frame is in a library's source, or in what rustc itself adds between a program and its
/// allocator.
fn is_library(frame: &Frame<'_>) -> bool {
    ::workspan::source::is_library(frame.file) || frame.function.starts_with("__rustc::")
}

/// The block of these executions in which most instructions are.
#[must_use]
pub fn heaviest(info: &StaticInfo, counts: &BlockCounts) -> Option<BlockId> {
    let weight = |(block, times): (BlockId, u64)| {
        let ops = info.block(block).map_or(0, |block| block.ir_ops.max(1));
        (u64::from(ops).saturating_mul(times), Reverse(block))
    };
    let most = counts.iter().map(weight).max();
    most.map(|(_, Reverse(block))| block)
}

/// The function of the [`heaviest`] block, and its line, 0 where it is not known.
#[must_use]
pub fn code_of(info: &StaticInfo, counts: &BlockCounts) -> Option<(FunctionId, u32)> {
    let block = info.block(heaviest(info, counts)?)?;
    Some((block.function, info.line_of(block)))
}

/// `file.c:12`: the name of a file without its folder, and the line if it is known.
pub(crate) fn file_line(file: &str, line: u32) -> String {
    let name = file.rsplit('/').next().unwrap_or_default();
    if line == 0 { name.to_owned() } else { format!("{name}:{line}") }
}

/// A function and a line of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Function name; empty when unknown.
    pub function: String,
    /// Source file; empty when unknown.
    pub file: String,
    /// Source line; 0 when unknown.
    pub line: u32,
}

impl Place {
    /// Where a block starts: in the innermost function of the program, inlined or not, or else of a
    /// library.
    #[must_use]
    pub fn of_block(info: &StaticInfo, id: BlockId) -> Self {
        match info.block(id) {
            Some(block) => Self::shown(info, block.function, block.line, block.inlined),
            None => Self::default(),
        }
    }

    /// Where a memory operation is, or where its block starts if its own line is not known.
    pub(crate) fn of_op(info: &StaticInfo, id: OpId) -> Self {
        let Some(block) = info.block_of_op(id) else {
            return Self::default();
        };
        match info.op(id).zip(info.block(block)) {
            Some((op, own)) if op.line != 0 => Self::shown(info, own.function, op.line, op.inlined),
            _ => Self::of_block(info, block),
        }
    }

    /// Whether both are at one line, whatever functions that is in.
    pub(crate) fn is_at_line_of(&self, other: &Self) -> bool {
        (&self.file, self.line) == (&other.file, other.line)
    }

    /// The place to show of a line in a function.
    fn shown(info: &StaticInfo, function: FunctionId, line: u32, inlined: u32) -> Self {
        let shown = shown(info, function, line, inlined);
        Self::of_frame(info, function, shown)
    }

    /// A frame whose line is not known has that of the function.
    fn of_frame(info: &StaticInfo, function: FunctionId, frame: Frame<'_>) -> Self {
        let line = match frame.line {
            0 => info.function(function).map_or(0, |function| function.line),
            line => line,
        };
        Self { function: frame.function.to_owned(), file: frame.file.to_owned(), line }
    }

    /// The program's functions that execute where a block starts, inlined or not, the innermost
    /// first, each with its line.
    pub(crate) fn stack_of_block(info: &StaticInfo, id: BlockId) -> Vec<Self> {
        let stack = |block: &Block| Self::stack(info, block.function, block.line, block.inlined);
        info.block(id).map_or_else(Vec::new, stack)
    }

    /// [`Place::stack_of_block`] of the call at the end of a block, or of its start if it has none.
    pub(crate) fn stack_of_call(info: &StaticInfo, id: BlockId) -> Vec<Self> {
        let stack = |block: &Block| match &block.call {
            Some(call) if call.line != 0 => {
                Self::stack(info, block.function, call.line, call.inlined)
            }
            _ => Self::stack_of_block(info, id),
        };
        info.block(id).map_or_else(Vec::new, stack)
    }

    /// What the program calls in the first of [`Place::stack_of_call`]: a function of a library that
    /// was inlined there, or the callee.
    pub(crate) fn callee_of(info: &StaticInfo, id: BlockId) -> Option<&str> {
        let block = info.block(id)?;
        let call = block.call.as_ref()?;
        let (line, inlined) = match call.line {
            0 => (block.line, block.inlined),
            line => (line, call.inlined),
        };
        let mut callee = call.callee.as_str();
        for frame in info.frames(block.function, line, inlined) {
            if !is_library(&frame) {
                return Some(callee);
            }
            callee = frame.function;
        }
        None
    }

    fn stack(info: &StaticInfo, function: FunctionId, line: u32, inlined: u32) -> Vec<Self> {
        let frames = info.frames(function, line, inlined);
        let own = frames.enumerate().filter(|(at, frame)| {
            // A library's function that has the program's code in it has no line of the program's
            // itself.
            !is_library(frame) && (*at == 0 || frame.line != 0)
        });
        own.map(|(_, frame)| Self::of_frame(info, function, frame)).collect()
    }

    /// Where a function starts.
    pub(crate) fn of_function(info: &StaticInfo, id: FunctionId) -> Self {
        let Some(function) = info.function(id) else {
            return Self::default();
        };
        let file = info.files.get(function.file as usize).cloned().unwrap_or_default();
        Self { function: function.name.clone(), file, line: function.line }
    }

    /// The place and the callee of the call at the end of a block, if there is one.
    #[must_use]
    pub fn of_call(info: &StaticInfo, id: BlockId) -> Option<(Self, String)> {
        let block = info.block(id)?;
        let call = block.call.as_ref()?;
        let place = match call.line {
            0 => Self::of_block(info, id),
            line => Self::shown(info, block.function, line, call.inlined),
        };
        Some((place, call.callee.clone()))
    }

    /// [`Place::of_call`], or where the block starts if it has no call.
    #[must_use]
    pub fn of_call_or_block(info: &StaticInfo, id: BlockId) -> (Self, String) {
        Self::of_call(info, id).unwrap_or_else(|| (Self::of_block(info, id), String::new()))
    }

    /// Whether the place is in a library's source, or in what rustc itself adds between a program
    /// and its allocator.
    pub(crate) fn is_library(&self) -> bool {
        is_library(&Frame { function: &self.function, file: &self.file, line: self.line })
    }

    /// Whether anything is known of the place.
    pub(crate) fn is_known(&self) -> bool {
        !self.function.is_empty() || !self.file.is_empty()
    }

    /// `file.c:12`: the name of the file without its folder, and the line. If the file is unknown,
    /// it is the function.
    #[must_use]
    pub fn short(&self) -> String {
        match (self.file.as_str(), self.function.as_str()) {
            ("", "") => "?".to_owned(),
            ("", function) => function.to_owned(),
            (file, _) => file_line(file, self.line),
        }
    }

    /// A place as in `in work (main.c:41)`. A function that the compiler made has the name that the
    /// program has for it.
    #[must_use]
    pub fn located(&self) -> String {
        if !self.is_known() {
            return "in code that was not recorded".to_owned();
        }
        let short = self.short();
        let (part, function) = names::part(&self.function);
        let name = match names::is_standard(function) && !self.is_library() {
            // The library took in this code of the program.
            true => String::new(),
            false => names::spoken(function),
        };
        match (part, name.as_str()) {
            (names::Part::Task, _) => format!("in the task at {short}"),
            (names::Part::Region, "") => format!("in the parallel region at {short}"),
            (names::Part::Region, name) => format!("in the parallel region of {name} ({short})"),
            (names::Part::Whole, "") => format!("at {short}"),
            (names::Part::Whole, _) if short == self.function => format!("in {name}"),
            (names::Part::Whole, name) => format!("in {name} ({short})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taskgraph::builder::GraphBuilder;
    use taskgraph::{CallSite, Inlined, MemOp};

    #[test]
    fn the_innermost_function_of_the_program_is_shown_with_those_it_was_inlined_into() {
        const HEADER: &str = "/usr/include/c++/12/bits/stl_vector.h";
        let mut b = GraphBuilder::new();
        let block = b.block("main()", "a.cpp", 20, &[MemOp::load(4).at(1043)]);
        let info = b.info_mut();
        info.files.push(HEADER.to_owned());
        info.names = ["outer()", "inner()", "std::vector::operator[]"].map(str::to_owned).to_vec();
        // main calls outer (line 20), which calls inner (30), which calls the library (40).
        info.inlined = (0..3)
            .map(|number| Inlined {
                name: number,
                file: u32::from(number == 2),
                line: 20 + 10 * number,
                within: number,
            })
            .collect();
        info.ops[0].inlined = 3;
        let own = &mut info.blocks[block.index()];
        (own.line, own.inlined) = (41, 2);
        own.call = Some(CallSite { callee: "f".to_owned(), line: 31, inlined: 1 });
        let said = |place: &Place| place.located();
        let stack = |places: Vec<Place>| places.iter().map(said).collect::<Vec<_>>();
        let (inner, outer) = ("in inner (a.cpp:41)", "in outer (a.cpp:30)");
        let main = "in main (a.cpp:20)";
        assert_eq!(said(&Place::of_block(info, block)), inner);
        assert_eq!(stack(Place::stack_of_block(info, block)), [inner, outer, main]);
        assert_eq!(stack(Place::stack_of_call(info, block)), ["in outer (a.cpp:31)", main]);
        assert_eq!(said(&Place::of_call(info, block).unwrap().0), "in outer (a.cpp:31)");
        assert_eq!(said(&Place::of_op(info, OpId::new(0))), "in inner (a.cpp:40)");
        assert_eq!(info.line_of(&info.blocks[block.index()]), 41);
    }

    #[test]
    fn a_library_function_that_took_in_code_of_the_program_is_not_told() {
        let mut b = GraphBuilder::new();
        let block = b.block("std::sys::backtrace::__rust_begin_short_backtrace", "m.rs", 7, &[]);
        let info = b.info_mut();
        info.names = vec!["p::main::{closure#0}".to_owned()];
        info.inlined = vec![Inlined::default()];
        let own = &mut info.blocks[block.index()];
        (own.line, own.inlined) = (9, 1);
        let stack = Place::stack_of_block(info, block);
        let said: Vec<String> = stack.iter().map(Place::located).collect();
        assert_eq!(said, ["in p::main (m.rs:9)"]);
    }
}
