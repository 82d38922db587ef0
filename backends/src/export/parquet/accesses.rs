//! The accesses: a folder for each context, and in it one for each stretch of time.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use taskgraph::{Access, Context, OpId, Piece, Reader};

use super::file::{File, cannot};
use crate::analysis::{Graph, Moment};
use crate::tables::Value::{Address, Flag, Int};
use crate::tables::{ACCESSES, Rows as _, number};

/// A stretch ends with the task in which it has so many accesses.
const MOST: u64 = 1 << 24;

/// Writes all accesses, `folder/context=N/from_ns=T/accesses.parquet`, and returns how many there
/// are.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<u64> {
    fs::create_dir(folder).with_context(|| cannot(folder))?;
    let info = graph.info();
    let block = |op| info.block_of_op(OpId::new(op)).map_or(0, |block| block.get().into());
    let blocks: Vec<u64> = (0..).take(info.ops.len()).map(block).collect();
    let contexts: Vec<(u32, Context)> = (0..).zip(graph.contexts()).collect();
    let counts = contexts.into_par_iter().map(|(position, context)| {
        let folder = folder.join(format!("context={}", context.id));
        of_context(&folder, graph, position, &context, &blocks)
    });
    let counts: Vec<u64> = counts.collect::<Result<_>>()?;
    Ok(counts.iter().sum())
}

fn of_context(
    folder: &Path,
    graph: &Graph,
    position: u32,
    context: &Context,
    blocks: &[u64],
) -> Result<u64> {
    let mut reader = Reader::new(graph, 1);
    let mut table: Option<File> = None;
    let (mut own, mut all) = (0, 0);
    for task in graph.tasks_of(context.id) {
        let task = task?;
        if task.access_count() == 0 {
            continue;
        }
        if own >= MOST {
            all += table.take().map_or(Ok(0), File::finish)?;
            own = 0;
        }
        own += task.access_count();
        let table = match &mut table {
            Some(table) => table,
            None => {
                let stretch = folder.join(format!("from_ns={}", task.start_ns()));
                fs::create_dir_all(&stretch).with_context(|| cannot(&stretch))?;
                let file = stretch.join("accesses.parquet");
                table.insert(File::create(&file, &ACCESSES)?)
            }
        };
        let (id, mut result) = (number(task.id()), Ok(()));
        let mut add = |at: &Moment, access: &Access| {
            if result.is_err() {
                return;
            }
            let block = blocks.get(access.op.index()).copied();
            result = table.row(&[
                Int(id),
                Int(at.time()),
                Address(access.addr),
                Int(access.size),
                Flag(access.write),
                Int(access.op.get().into()),
                Int(block.unwrap_or(0)),
            ]);
        };
        let mut at = Moment::first(position, &task);
        reader.open(&task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                let mut each = at;
                match &piece {
                    Piece::Blocks(executions) => executions.each().for_each(|(_, own)| {
                        own.iter().for_each(|access| add(&each, &access));
                        each = each.later(1);
                    }),
                    Piece::Run(run) => run.for_each_block(|block| {
                        block.for_each_access(|access| add(&each, &access));
                        each = each.later(1);
                    }),
                    _ => {}
                }
                at = at.later(piece.actions());
            }
        }
        result?;
    }
    Ok(all + table.take().map_or(Ok(0), File::finish)?)
}
