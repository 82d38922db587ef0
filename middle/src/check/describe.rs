//! Descriptions of differences in words.

use taskgraph::{BlockId, MemOp};

use crate::program::Program;

/// Number, function, file and line of a block.
pub(crate) fn block(program: &Program, block: u32) -> String {
    match program.place(block) {
        Some((function, file, line)) => format!("block {block} ({function}, {file}:{line})"),
        None => format!("block {block}"),
    }
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
    let mut end = 0;
    let ops = program.info.ops_of(BlockId::new(block));
    ops.iter().enumerate().find(|(_, op)| {
        end += op.operand_count();
        at < end
    })
}

fn kind(op: &MemOp) -> String {
    match op.size {
        0 => op.kind.to_string(),
        n => format!("{} of {n} bytes", op.kind),
    }
}
