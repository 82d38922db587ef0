//! The accesses: a folder for each context, and in it one for each stretch of time.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use taskgraph::{Access, Batch, Context, Piece, Reader};

use super::file::Kind::{Flag, Int};
use super::file::{Field, Table, cannot};
use super::tables::number;
use crate::analysis::{Graph, Moment};

/// A stretch ends with the task in which it has so many accesses.
const MOST: u64 = 1 << 24;

/// The context is in the name of the folder.
const ACCESSES: [Field; 7] = [
    ("task", Int),
    ("at_ns", Int),
    ("address", Int),
    ("bytes", Int),
    ("write", Flag),
    ("operation", Int),
    ("block", Int),
];

/// Writes all accesses, `folder/context=N/from_ns=T/accesses.parquet`, and returns how many there are.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<u64> {
    fs::create_dir(folder).with_context(|| cannot(folder))?;
    let contexts: Vec<(u32, Context)> = (0..).zip(graph.contexts()).collect();
    let counts = contexts
        .into_par_iter()
        .map(|(position, context)| of_context(folder, graph, position, &context));
    let counts: Vec<u64> = counts.collect::<Result<_>>()?;
    Ok(counts.iter().sum())
}

fn of_context(folder: &Path, graph: &Graph, position: u32, context: &Context) -> Result<u64> {
    let info = graph.info();
    let folder = folder.join(format!("context={}", context.id));
    let mut blocks = vec![0; info.ops.len()];
    for (at, block) in (0..).zip(&info.blocks) {
        let own = blocks
            .get_mut(block.first_op as usize..)
            .unwrap_or_default();
        own.iter_mut()
            .take(block.op_count as usize)
            .for_each(|op| *op = at);
    }
    let (mut reader, mut batch) = (Reader::new(graph, 1), Batch::default());
    let mut table: Option<Table> = None;
    let (mut own, mut all) = (0, 0);
    for task in graph.tasks_of(context.id) {
        let task = task?;
        if task.access_count() == 0 {
            continue;
        }
        if own >= MOST {
            all += table.take().map_or(Ok(0), Table::finish)?;
            own = 0;
        }
        own += task.access_count();
        let table = match &mut table {
            Some(table) => table,
            None => {
                let stretch = folder.join(format!("from_ns={}", task.start_ns()));
                fs::create_dir_all(&stretch).with_context(|| cannot(&stretch))?;
                table.insert(Table::create(&stretch.join("accesses.parquet"), &ACCESSES)?)
            }
        };
        let id = number(task.id());
        let mut at = Moment::first(position, &task);
        let mut failed = None;
        let mut put = |access: Access, at_ns| {
            let block = blocks.get(access.op.index()).copied().unwrap_or(0);
            match table.row() {
                Ok(row) => {
                    _ = row
                        .int(id)
                        .int(at_ns)
                        .bits(access.addr)
                        .int(access.size)
                        .flag(access.write)
                        .int(access.op.get().into())
                        .int(block)
                }
                Err(error) => failed = Some(error),
            }
        };
        reader.open(&task);
        while reader.next(&mut batch)? {
            for piece in batch.pieces() {
                let mut each = at;
                match &piece {
                    Piece::Blocks(blocks) => {
                        for (_, accesses) in blocks.each() {
                            let at_ns = each.time();
                            accesses.iter().for_each(|access| put(access, at_ns));
                            each = each.later(1);
                        }
                    }
                    Piece::Run(run) => run.for_each_block(|block| {
                        let at_ns = each.time();
                        block.for_each_access(|access| put(access, at_ns));
                        each = each.later(1);
                    }),
                    _ => {}
                }
                at = at.later(piece.actions());
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
    }
    Ok(all + table.take().map_or(Ok(0), Table::finish)?)
}
