//! Static program tables: modules, files, functions, basic blocks and memory operations.

use crate::id::{BlockId, FunctionId, OpId};
use crate::op::MemOp;
use crate::wire::Malformed;

/// The static tables of the traced program, all modules together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticInfo {
    /// Instrumented modules (objects linked into the program or loaded by it).
    pub modules: Vec<Module>,
    /// Source file names.
    pub files: Vec<String>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Names of inlined functions, demangled where possible.
    pub names: Vec<String>,
    /// Inlined calls; one that contains another comes before it.
    pub inlined: Vec<Inlined>,
    /// Basic blocks, or pieces of them between calls.
    pub blocks: Vec<Block>,
    /// Memory operations; each block owns a range.
    pub ops: Vec<MemOp>,
}

/// An instrumented module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Name of the module, usually its main source file.
    pub name: String,
    /// What the instrumentation could not record: the reason, and the number of places in the code.
    pub unrecorded: Vec<(String, u64)>,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Name, demangled where possible.
    pub name: String,
    /// Index into [`StaticInfo::files`].
    pub file: u32,
    /// Source line, 0 when unknown.
    pub line: u32,
    /// Index into [`StaticInfo::modules`].
    pub module: u32,
}

/// A call that the compiler inlined. Of the calls of libraries, only those are in the table that
/// come right below a function of the program: what libraries call in turn has the line of that
/// call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Inlined {
    /// The function called: index into [`StaticInfo::names`].
    pub name: u32,
    /// Index into [`StaticInfo::files`]: where the called function's lines are.
    pub file: u32,
    /// Line of the call in the calling function, 0 when unknown.
    pub line: u32,
    /// The inlined call whose function calls, as in [`Block::inlined`].
    pub within: u32,
}

/// A function that executes, with inlined functions counted as functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Name of the function.
    pub function: &'a str,
    /// Source file; empty when unknown.
    pub file: &'a str,
    /// Line that executes, 0 when unknown.
    pub line: u32,
}

/// A basic block, or a piece of one cut after a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The function it belongs to.
    pub function: FunctionId,
    /// Source line, 0 when unknown. Its file is that of the inlined function or, without one, of
    /// `function`.
    pub line: u32,
    /// The inlined function that the line is in: 0 for none, n for entry n - 1 of
    /// [`StaticInfo::inlined`].
    pub inlined: u32,
    /// First entry in [`StaticInfo::ops`].
    pub first_op: u32,
    /// Number of memory operations.
    pub op_count: u32,
    /// [`Block::ENTRY`], [`Block::RETURN`], [`Block::LOOP_HEADER`].
    pub flags: u8,
    /// IR instructions.
    pub ir_ops: u32,
    /// The call that ends the block, if one does.
    pub call: Option<CallSite>,
}

impl Block {
    /// The first block of its function.
    pub const ENTRY: u8 = 1;
    /// The block ends in a return.
    pub const RETURN: u8 = 2;
    /// The block is the header of a loop.
    pub const LOOP_HEADER: u8 = 4;
}

/// A call at the end of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// Name of the function called; empty when it is not known statically.
    pub callee: String,
    /// Source line, 0 when unknown.
    pub line: u32,
    /// The inlined function that the line is in, as in [`Block::inlined`].
    pub inlined: u32,
}

impl StaticInfo {
    /// A block; `None` when the table has no such block.
    #[inline]
    #[must_use]
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        self.blocks.get(id.index())
    }

    /// A function; `None` when the table has no such function.
    #[must_use]
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.index())
    }

    /// A memory operation; `None` when the table has no such operation.
    #[must_use]
    pub fn op(&self, id: OpId) -> Option<&MemOp> {
        self.ops.get(id.index())
    }

    /// The memory operations of a block, in program order; empty for a block that is not in the
    /// table.
    #[inline]
    #[must_use]
    pub fn ops_of(&self, id: BlockId) -> &[MemOp] {
        self.block(id).map_or(&[], |b| {
            let first = b.first_op as usize;
            self.ops.get(first..first.saturating_add(b.op_count as usize)).unwrap_or(&[])
        })
    }

    /// The operands an execution of a block records: the sum over its operations.
    #[must_use]
    pub fn operand_count(&self, id: BlockId) -> usize {
        self.ops_of(id).iter().map(MemOp::operand_count).sum()
    }

    /// The source file of a function; empty when unknown.
    #[must_use]
    pub fn file_of(&self, id: FunctionId) -> &str {
        self.function(id).and_then(|f| self.files.get(f.file as usize)).map_or("", String::as_str)
    }

    /// The functions that execute at a line of a block, the innermost first. `inlined` is as in
    /// [`Block::inlined`]; the last frame is that of `function` itself.
    pub fn frames(
        &self,
        function: FunctionId,
        line: u32,
        inlined: u32,
    ) -> impl Iterator<Item = Frame<'_>> {
        let mut next = Some((line, inlined));
        std::iter::from_fn(move || {
            let (line, inlined) = next?;
            let called = (inlined as usize).checked_sub(1).and_then(|at| self.inlined.get(at));
            next = called.map(|called| (called.line, called.within));
            Some(match called {
                Some(called) => Frame {
                    function: self.names.get(called.name as usize).map_or("", String::as_str),
                    file: self.files.get(called.file as usize).map_or("", String::as_str),
                    line,
                },
                None => Frame {
                    function: self.function(function).map_or("", |f| f.name.as_str()),
                    file: self.file_of(function),
                    line,
                },
            })
        })
    }

    /// The line of a block in the file of the block's own function: the innermost one there or, if
    /// there is none, that of the call that was inlined.
    #[must_use]
    pub fn own_line(&self, function: FunctionId, line: u32, inlined: u32) -> u32 {
        let file = self.file_of(function);
        let mut outermost = line;
        for frame in self.frames(function, line, inlined) {
            if frame.file == file && frame.line != 0 {
                return frame.line;
            }
            outermost = frame.line;
        }
        outermost
    }

    /// [`StaticInfo::own_line`] of where a block starts.
    #[must_use]
    pub fn line_of(&self, block: &Block) -> u32 {
        self.own_line(block.function, block.line, block.inlined)
    }

    /// [`StaticInfo::own_line`] of the call at the end of a block, if there is one.
    #[must_use]
    pub fn call_line_of(&self, block: &Block) -> Option<u32> {
        let call = block.call.as_ref()?;
        Some(self.own_line(block.function, call.line, call.inlined))
    }

    /// The block that a memory operation belongs to. It takes O(log blocks), and needs blocks that
    /// own the operations in ascending order (as in the tables of the middle layer); otherwise it
    /// is `None` for the blocks out of order.
    #[must_use]
    pub fn block_of_op(&self, op: OpId) -> Option<BlockId> {
        let mut at = self.blocks.partition_point(|b| b.first_op <= op.get());
        // Blocks without operations have the same first_op as a neighbour.
        while at > 0 {
            at -= 1;
            let b = &self.blocks[at];
            if op.get().wrapping_sub(b.first_op) < b.op_count {
                return BlockId::from_index(at);
            }
            if b.op_count > 0 {
                break;
            }
        }
        None
    }

    /// Checks that every index in the tables is within its table, and that blocks do not share
    /// operations.
    ///
    /// # Errors
    /// Names the first entry that is out of range.
    pub fn validate(&self) -> Result<(), Malformed> {
        let bad = |detail: String| Err(Malformed::new("static tables", detail));
        for (i, f) in self.functions.iter().enumerate() {
            if f.file as usize >= self.files.len() || f.module as usize >= self.modules.len() {
                return bad(format!(
                    "function {i} ({}) is in file {} of {} and module {} of {}",
                    f.name,
                    f.file,
                    self.files.len(),
                    f.module,
                    self.modules.len()
                ));
            }
        }
        for (i, b) in self.blocks.iter().enumerate() {
            if b.function.index() >= self.functions.len() {
                let n = self.functions.len();
                return bad(format!("block {i} is in function {} of {n}", b.function));
            }
            let end = u64::from(b.first_op) + u64::from(b.op_count);
            if end > self.ops.len() as u64 {
                let n = self.ops.len();
                return bad(format!("block {i} has operations up to {end} of {n}"));
            }
        }
        for (i, call) in self.inlined.iter().enumerate() {
            let (names, files) = (self.names.len(), self.files.len());
            if call.name as usize >= names || call.file as usize >= files {
                return bad(format!(
                    "inlined call {i} has name {} of {names} and file {} of {files}",
                    call.name, call.file
                ));
            }
            if call.within as usize > i {
                return bad(format!("inlined call {i} is within call {}", call.within));
            }
        }
        let calls = self.blocks.iter().filter_map(|b| b.call.as_ref());
        let used = self.blocks.iter().map(|b| b.inlined);
        let used = used.chain(calls.map(|c| c.inlined));
        let most = used.chain(self.ops.iter().map(|op| op.inlined)).max();
        if most.unwrap_or(0) as usize > self.inlined.len() {
            return bad(format!(
                "a line is in inlined call {} of {}",
                most.unwrap_or(0),
                self.inlined.len()
            ));
        }
        let owned: u64 = self.blocks.iter().map(|b| u64::from(b.op_count)).sum();
        if owned > self.ops.len() as u64 {
            let n = self.ops.len();
            return bad(format!("the blocks have {owned} operations together, the table {n}"));
        }
        for (i, op) in self.ops.iter().enumerate() {
            if op.lanes > MemOp::MAX_LANES {
                return bad(format!(
                    "operation {i} has {} lanes, at most 64 are possible",
                    op.lanes
                ));
            }
            if op.size > MemOp::MAX_SIZE {
                return bad(format!(
                    "operation {i} ({:?}) claims to access {} bytes, at most {} are possible",
                    op.kind,
                    op.size,
                    MemOp::MAX_SIZE
                ));
            }
            if op.flags & MemOp::CONST_LEN != 0 && !op.has_length() {
                return bad(format!("operation {i} ({:?}) has a constant length", op.kind));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::OpKind;

    fn info() -> StaticInfo {
        let block = |first_op, op_count| Block { first_op, op_count, ..Block::default() };
        StaticInfo {
            modules: vec![Module::default()],
            files: vec!["a.c".into(), "a.h".into()],
            functions: vec![Function { name: "main".into(), ..Function::default() }],
            names: vec!["outer".into(), "inner".into()],
            inlined: vec![
                Inlined { line: 7, ..Inlined::default() },
                Inlined { name: 1, file: 1, line: 8, within: 1 },
            ],
            blocks: vec![block(0, 2), block(2, 0), block(2, 1), block(3, 0)],
            ops: vec![MemOp::load(8), MemOp::new(OpKind::Copy, 0, 0), MemOp::store(4)],
        }
    }

    #[test]
    fn a_block_finds_its_operations_and_an_operation_its_block() {
        let info = info();
        info.validate().unwrap();
        assert_eq!(info.ops_of(BlockId::new(0)).len(), 2);
        assert_eq!(info.operand_count(BlockId::new(0)), 4);
        assert_eq!(info.operand_count(BlockId::new(9)), 0);
        let owners: Vec<_> =
            (0..4).map(|op| info.block_of_op(OpId::new(op)).map(BlockId::get)).collect();
        assert_eq!(owners, [Some(0), Some(0), Some(2), None]);
    }

    #[test]
    fn the_frames_of_a_line_are_the_inlined_calls_and_the_function_around_them() {
        let info = info();
        let frames = |inlined| -> Vec<_> {
            let frames = info.frames(FunctionId::new(0), 9, inlined);
            frames.map(|f| (f.function, f.file, f.line)).collect()
        };
        assert_eq!(frames(0), [("main", "a.c", 9)]);
        assert_eq!(frames(2), [("inner", "a.h", 9), ("outer", "a.c", 8), ("main", "a.c", 7)]);
        let own = [0, 1, 2].map(|inlined| info.own_line(FunctionId::new(0), 9, inlined));
        assert_eq!(own, [9, 9, 8]);
    }

    #[test]
    fn an_index_out_of_range_is_refused() {
        type Fault = fn(&mut StaticInfo);
        let faults: [(Fault, &str); 10] = [
            (|i| i.blocks[3] = i.blocks[0].clone(), "5 operations together"),
            (|i| i.functions[0].file = 2, "function 0"),
            (|i| i.functions[0].module = 1, "function 0"),
            (|i| i.blocks[1].function = FunctionId::new(1), "block 1"),
            (|i| i.blocks[2].op_count = u32::MAX, "block 2"),
            (|i| i.ops[2].inlined = 3, "inlined call 3 of 2"),
            (|i| i.inlined[0].within = 1, "inlined call 0"),
            (|i| i.inlined[1].name = 2, "name 2 of 2"),
            (|i| i.ops[2].lanes = 65, "operation 2"),
            (|i| i.ops[0].size = u32::MAX, "4294967295 bytes"),
        ];
        for (break_it, name) in faults {
            let mut info = info();
            break_it(&mut info);
            let error = info.validate().unwrap_err().to_string();
            assert!(error.contains(name), "{error}");
        }
    }
}
