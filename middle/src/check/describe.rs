//! Descriptions of differences in words.

use taskgraph::{BlockId, MemOp, OpKind};

use crate::program::Program;

/// `function file:line` of a block.
pub(crate) fn block(program: &Program, block: u32) -> String {
    let info = &program.info;
    let Some(b) = info.blocks.get(BlockId::new(block).index()) else {
        return format!("block {block}");
    };
    let function = info.functions.get(b.function.index());
    let name = function.map_or("?", |f| f.name.as_str());
    let file = function.and_then(|f| info.files.get(f.file as usize)).map_or("?", String::as_str);
    let line = info.line_of(b);
    format!("block {block} ({name}, {file}:{line})")
}

/// Describes the first operand that differs.
pub(crate) fn operands(program: &Program, block: u32, main: &[u64], naive: &[u64]) -> String {
    let at = main.iter().zip(naive).position(|(a, b)| a != b);
    let Some(at) = at else {
        return format!("{} operands, naive {}", main.len(), naive.len());
    };
    let place = operation(program, block, at).map_or_else(String::new, |(which, op)| {
        format!(" of operation {which} ({}, line {})", kind(op), op.line)
    });
    format!("operand {at}{place}: recorded {:#x}, naive {:#x}", main[at], naive[at])
}

/// Finds the operation that has the block's operand `at`, and its number in the block.
fn operation(program: &Program, block: u32, at: usize) -> Option<(usize, &MemOp)> {
    let info = &program.info;
    let b = info.blocks.get(BlockId::new(block).index())?;
    let first = b.first_op as usize;
    let ops = info.ops.get(first..first + b.op_count as usize)?;
    let mut end = 0;
    ops.iter().enumerate().find(|(_, op)| {
        end += op.operand_count();
        at < end
    })
}

fn kind(op: &MemOp) -> String {
    let what = match op.kind {
        OpKind::Load => "load",
        OpKind::Store => "store",
        OpKind::Rmw => "read-modify-write",
        OpKind::Copy => "copy",
        OpKind::Set => "set",
        OpKind::Scan => "scan",
        OpKind::MaskedLoad => "masked load",
        OpKind::MaskedStore => "masked store",
        OpKind::Gather => "gather",
        OpKind::Scatter => "scatter",
        OpKind::ExpandLoad => "expanding load",
        OpKind::CompressStore => "compressing store",
    };
    match op.size {
        0 => what.to_owned(),
        n => format!("{what} of {n} bytes"),
    }
}
