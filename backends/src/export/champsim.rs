//! Traces for ChampSim, one of each executor: a record of 64 bytes for each instruction, which has
//! the address of what it reads or writes. docs/src/guide/export.md says what these traces lack.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use flate2::Compression;
use flate2::write::GzEncoder;
use taskgraph::{BlockExec, TaskId};

use crate::analysis::Graph;

/// The place of the first instruction, and the bytes of each.
const CODE: u64 = 0x40_0000;
const INSTRUCTION: u64 = 4;
/// Bytes of the cache lines of ChampSim: an access of several is one of each.
const LINE: u64 = 64;
/// The registers that tell ChampSim which kind of branch it is: what a conditional one reads, and
/// writes.
const FLAGS: u8 = 25;
const INSTRUCTION_POINTER: u8 = 26;

/// Writes the traces into a folder.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<()> {
    let mut tasks: Vec<Vec<(u64, TaskId)>> = vec![Vec::new(); graph.executor_count()];
    for context in graph.contexts() {
        for task in graph.tasks_of(context.id) {
            let task = task?;
            if task.block_count() > 0 {
                tasks[task.executor().index()].push((task.start_ns(), task.id()));
            }
        }
    }
    // Where each block begins. The memory operations are in front, and the branch is behind all.
    let mut next = CODE;
    let place = |block: &taskgraph::Block| {
        let first = next;
        let instructions = block.ir_ops.max(block.op_count + 1);
        next += u64::from(instructions) * INSTRUCTION;
        (first, next - INSTRUCTION)
    };
    let places: Vec<(u64, u64)> = graph.info().blocks.iter().map(place).collect();
    for (executor, mut tasks) in tasks.into_iter().enumerate() {
        if tasks.is_empty() {
            continue;
        }
        tasks.sort_unstable();
        let file = File::create_new(folder.join(format!("{executor}.champsimtrace.gz")))?;
        let out = GzEncoder::new(BufWriter::new(file), Compression::fast());
        let mut trace = Trace { out, places: &places, branch: None };
        for (_, id) in tasks {
            let mut written = Ok(());
            graph.task(id)?.for_each_block(|block| {
                if written.is_ok() {
                    written = trace.block(block);
                }
            })?;
            written?;
        }
        trace.branch(None)?;
        trace.out.finish()?.flush()?;
    }
    Ok(())
}

struct Trace<'p, W> {
    out: W,
    /// Of each block, the first and the last instruction.
    places: &'p [(u64, u64)],
    /// The last instruction of the block before, which is written once it is known where it goes.
    branch: Option<u64>,
}

impl<W: Write> Trace<'_, W> {
    fn block(&mut self, block: &BlockExec<'_>) -> Result<()> {
        let (Some(about), Some(&(first, last))) =
            (block.about(), self.places.get(block.id().index()))
        else {
            return Ok(());
        };
        self.branch(Some(first))?;
        for access in block.accesses() {
            let at = first + u64::from(access.op.get() - about.first_op) * INSTRUCTION;
            let last = access.addr.saturating_add(access.size.max(1) - 1);
            for line in access.addr / LINE..=last / LINE {
                let address = access.addr.max(line * LINE);
                self.record(at, None, Some((address, access.write)))?;
            }
        }
        let mut at = first + u64::from(about.op_count) * INSTRUCTION;
        while at < last {
            self.record(at, None, None)?;
            at += INSTRUCTION;
        }
        self.branch = Some(last);
        Ok(())
    }

    /// The branch at the end of the block before; the next one begins at `to`.
    fn branch(&mut self, to: Option<u64>) -> Result<()> {
        let Some(at) = self.branch.take() else {
            return Ok(());
        };
        let taken = to.is_some_and(|to| to != at + INSTRUCTION);
        self.record(at, Some(taken), None)
    }

    /// An instruction; a branch is taken or not, and an access is an address and whether it is
    /// written.
    fn record(&mut self, at: u64, branch: Option<bool>, access: Option<(u64, bool)>) -> Result<()> {
        let mut record = [0; 64];
        record[..8].copy_from_slice(&at.to_le_bytes());
        if let Some(taken) = branch {
            record[8] = 1;
            record[9] = taken.into();
            record[10] = INSTRUCTION_POINTER;
            record[12..14].copy_from_slice(&[INSTRUCTION_POINTER, FLAGS]);
        }
        if let Some((address, write)) = access {
            let field = if write { 16 } else { 32 };
            record[field..field + 8].copy_from_slice(&address.to_le_bytes());
        }
        Ok(self.out.write_all(&record)?)
    }
}
