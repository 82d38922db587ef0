//! The accesses: a folder for each context, and in it one for each stretch of time.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use taskgraph::{AffineRun, Context, Executions, OpId, Piece, Reader};

use super::file::Kind::{Flag, Int};
use super::file::{Field, Table, cannot};
use super::tables::number;
use crate::analysis::{Graph, Moment};

/// A stretch ends with the task in which it has so many accesses.
const MOST: u64 = 1 << 24;

/// Accesses of a loop that are added at a time.
const PART: u64 = 1 << 13;

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
const TASK: usize = 0;
const AT_NS: usize = 1;
const ADDRESS: usize = 2;
const BYTES: usize = 3;
const WRITE: usize = 4;
const OPERATION: usize = 5;
const BLOCK: usize = 6;

/// Writes all accesses, `folder/context=N/from_ns=T/accesses.parquet`, and returns how many there are.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<u64> {
    fs::create_dir(folder).with_context(|| cannot(folder))?;
    let info = graph.info();
    let mut blocks = vec![0; info.ops.len()];
    for (at, block) in (0..).zip(&info.blocks) {
        let own = blocks.get_mut(block.first_op as usize..);
        let own = own.unwrap_or_default().iter_mut();
        own.take(block.op_count as usize).for_each(|op| *op = at);
    }
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
    blocks: &[i64],
) -> Result<u64> {
    let mut reader = Reader::new(graph, 1);
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
                let file = stretch.join("accesses.parquet");
                table.insert(Table::create(&file, &ACCESSES)?)
            }
        };
        let task_number = number(task.id()).cast_signed();
        let mut at = Moment::first(position, &task);
        reader.open(&task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                match &piece {
                    Piece::Blocks(executions) => add_blocks(table, blocks, at, executions),
                    Piece::Run(run) => add_run(table, blocks, task_number, at, run)?,
                    _ => {}
                }
                added(table, task_number)?;
                at = at.later(piece.actions());
            }
        }
    }
    Ok(all + table.take().map_or(Ok(0), Table::finish)?)
}

/// Counts what was added to the other columns, and says which task it is of.
fn added(table: &mut Table, task: i64) -> Result<()> {
    let rows = table.ints(ADDRESS).len();
    let tasks = table.ints(TASK);
    let new = rows - tasks.len();
    tasks.resize(rows, task);
    table.added(new)
}

fn time(at: &Moment) -> i64 {
    at.time().try_into().unwrap_or(i64::MAX)
}

fn bytes(size: u64) -> i64 {
    size.try_into().unwrap_or(i64::MAX)
}

fn add_blocks(table: &mut Table, blocks: &[i64], at: Moment, executions: &Executions<'_>) {
    let accesses = executions.accesses();
    let (addresses, sites) = (accesses.addresses(), accesses.sites());
    let mut each = at;
    let times = table.ints(AT_NS);
    executions.each().for_each(|(_, own)| {
        if !own.is_empty() {
            times.resize(times.len() + own.len(), time(&each));
        }
        each = each.later(1);
    });
    let signed = addresses.iter().map(|address| address.cast_signed());
    table.ints(ADDRESS).extend(signed);
    let sizes = (0..sites.len()).map(|at| bytes(accesses.size(at)));
    table.ints(BYTES).extend(sizes);
    let writes = sites.iter().map(|site| site.write());
    table.flags(WRITE).extend(writes);
    let operations = sites.iter().map(|site| i64::from(site.op().get()));
    table.ints(OPERATION).extend(operations);
    let of = sites.iter().map(|site| block_of(blocks, site.op()));
    table.ints(BLOCK).extend(of);
}

fn block_of(blocks: &[i64], op: OpId) -> i64 {
    blocks.get(op.index()).copied().unwrap_or(0)
}

fn add_run(
    table: &mut Table,
    blocks: &[i64],
    task: i64,
    at: Moment,
    run: &AffineRun<'_>,
) -> Result<()> {
    let mut moving = Vec::new();
    if !run.for_each_strided(|strided| moving.push(strided)) {
        return add_each(table, blocks, task, at, run);
    }
    // The accesses of an iteration, and at which of its executions each is.
    let mut offsets = Vec::with_capacity(moving.len());
    for (offset, block) in (0..).zip(run.first()) {
        block.for_each_access(|_| offsets.push(offset));
    }
    let accesses = || moving.iter().map(|moving| moving.access);
    let sizes: Vec<i64> = accesses().map(|access| bytes(access.size)).collect();
    let writes: Vec<bool> = accesses().map(|access| access.write).collect();
    let operations: Vec<i64> = accesses().map(|access| access.op.get().into()).collect();
    let of: Vec<i64> = accesses()
        .map(|access| block_of(blocks, access.op))
        .collect();
    let (executions, mut done) = (run.executions() / run.iterations().max(1), 0);
    while done < run.iterations() && !moving.is_empty() {
        let times = (PART / moving.len() as u64).clamp(1, run.iterations() - done);
        for _ in 0..times {
            table.ints(BYTES).extend_from_slice(&sizes);
            table.flags(WRITE).extend_from_slice(&writes);
            table.ints(OPERATION).extend_from_slice(&operations);
            table.ints(BLOCK).extend_from_slice(&of);
        }
        let column = table.ints(AT_NS);
        for iteration in done..done + times {
            let first = at.later(iteration * executions);
            column.extend(offsets.iter().map(|&offset| time(&first.later(offset))));
        }
        let column = table.ints(ADDRESS);
        for _ in 0..times {
            column.extend(moving.iter_mut().map(|moving| {
                let address = moving.access.addr;
                moving.access.addr = address.wrapping_add(moving.stride);
                address.cast_signed()
            }));
        }
        done += times;
        added(table, task)?;
    }
    Ok(())
}

/// Adds the accesses of a run whose iterations have different numbers of them.
fn add_each(
    table: &mut Table,
    blocks: &[i64],
    task: i64,
    at: Moment,
    run: &AffineRun<'_>,
) -> Result<()> {
    let (mut each, mut result) = (at, Ok(()));
    run.for_each_block(|block| {
        if result.is_err() {
            return;
        }
        let now = time(&each);
        block.for_each_access(|access| {
            table.ints(AT_NS).push(now);
            table.ints(ADDRESS).push(access.addr.cast_signed());
            table.ints(BYTES).push(bytes(access.size));
            table.flags(WRITE).push(access.write);
            table.ints(OPERATION).push(access.op.get().into());
            table.ints(BLOCK).push(block_of(blocks, access.op));
        });
        each = each.later(1);
        result = added(table, task);
    });
    result
}
