//! One sweep over a graph makes the rows of all tables that are wanted.

use std::rc::Rc;

use anyhow::Result;
use rustc_hash::FxHashMap;
use taskgraph::{
    Action, Block, BlockCounts, BlockId, Context, ContextId, Mmap, Piece, Reader, TaskId,
};

use super::Value::{Address, Flag, Int, Maybe, Text};
use super::{
    ALLOCATIONS, BLOCKS, CONTEXTS, EDGES, EXECUTORS, FUNCTIONS, Rows, SYNCHRONISATIONS, TABLES,
    TASKS, Table, Value, WAITS,
};
use crate::analysis::source::{Place, code_of};
use crate::analysis::{Graph, LongCall, Moment, Segments, State, Task, block_before};

/// The number of a task as one column: its context in front of its place in the context.
#[must_use]
pub fn number(id: TaskId) -> u64 {
    u64::from(id.context.get()) << 32 | u64::from(id.seq)
}

/// The MPI rank of a process, in a graph of several.
fn rank(graph: &Graph, space: u16) -> Value<'static> {
    let rank = graph.meta().ranks.get(usize::from(space));
    Maybe(rank.map(|rank| rank.rank.into()))
}

/// What an action is in the life of memory, with the address, and the bytes if they are known.
fn life(action: &Action<'_>) -> Option<(&'static str, u64, Option<u64>)> {
    Some(match *action {
        Action::Alloc { addr, size, kind } => (kind.name(), addr, Some(size)),
        Action::Free { addr } => ("free", addr, None),
        Action::Map { addr, size } => ("map", addr, Some(size)),
        Action::Unmap { addr, size } => ("unmap", addr, Some(size)),
        Action::Fresh { addr, size } => ("fresh", addr, Some(size)),
        _ => return None,
    })
}

fn known(line: u32) -> Option<u64> {
    (line > 0).then_some(line.into())
}

/// Writes the rows of the tables for which `open` returns something that takes them, and returns
/// what took them.
///
/// # Errors
/// When the graph cannot be read, or the rows cannot be written.
pub fn write<R: Rows>(
    graph: &Graph,
    mut open: impl FnMut(&'static Table) -> Result<Option<R>>,
) -> Result<Vec<(&'static Table, R)>> {
    let mut wanted = Vec::new();
    for table in TABLES {
        wanted.extend(open(table)?.map(|rows| (table, rows)));
    }
    let mut sweep = Sweep {
        graph,
        executions: vec![0; graph.info().blocks.len()],
        calls: FxHashMap::default(),
        wanted,
    };
    if sweep.wants(&[&TASKS, &EDGES, &ALLOCATIONS, &SYNCHRONISATIONS, &BLOCKS]) {
        for (position, context) in (0..).zip(graph.contexts()) {
            sweep.tasks(position, context.id)?;
        }
    }
    if sweep.wants(&[&WAITS]) {
        graph.contexts().try_for_each(|context| sweep.waits(context.id))?;
    }
    sweep.contexts()?;
    sweep.executors()?;
    sweep.functions()?;
    sweep.blocks()?;
    Ok(sweep.wanted)
}

/// The tables that are being written.
struct Sweep<'g, R> {
    graph: &'g Graph,
    wanted: Vec<(&'static Table, R)>,
    /// Executions by block.
    executions: Vec<u64>,
    /// Where the call at the end of a block is.
    calls: FxHashMap<Option<BlockId>, Rc<(Place, String)>>,
}

impl<'g, R: Rows> Sweep<'g, R> {
    fn wants(&self, tables: &[&Table]) -> bool {
        let is = |own: &Table| tables.iter().any(|table| std::ptr::eq(*table, own));
        self.wanted.iter().any(|(own, _)| is(own))
    }

    /// A row for a table, if that is wanted.
    fn row(&mut self, table: &'static Table, values: &[Value<'_>]) -> Result<()> {
        let found = self.wanted.iter_mut().find(|(own, _)| std::ptr::eq(*own, table));
        found.map_or(Ok(()), |(_, rows)| rows.row(values))
    }

    /// The tasks of the context at this position, with their edges and actions.
    fn tasks(&mut self, position: u32, id: ContextId) -> Result<()> {
        let info = self.graph.info();
        let mut reader = Reader::new(self.graph, 1).without_accesses();
        let mut counts = BlockCounts::new();
        let looks_at_blocks = self.wants(&[&TASKS, &BLOCKS]);
        let looks_at_others = self.wants(&[&ALLOCATIONS, &SYNCHRONISATIONS]);
        for task in self.graph.tasks_of(id) {
            let task = task?;
            let own = task.id();
            counts.clear();
            if looks_at_others && task.action_count() > task.block_count() {
                self.others(position, &task, &mut reader, &mut counts)?;
            } else if looks_at_blocks && !task.spans().is_empty() {
                reader.count_blocks(&task, &mut counts)?;
            }
            for (block, times) in counts.iter() {
                if let Some(sum) = self.executions.get_mut(block.index()) {
                    *sum = sum.saturating_add(times);
                }
            }
            let code = code_of(info, &counts);
            let kind = task.kind().name();
            let row = [
                Int(number(own)),
                Int(own.context.get().into()),
                Int(own.seq.into()),
                Int(task.executor().get().into()),
                Text(kind),
                Text(task.op().name()),
                Address(task.object()),
                Int(task.start_ns()),
                Int(task.end_ns()),
                Int(task.block_count()),
                Int(task.read_count()),
                Int(task.write_count()),
                Int(task.bytes_accessed()),
                Int(task.action_count()),
                Maybe(code.map(|code| code.0.get().into())),
                Maybe(code.and_then(|code| known(code.1))),
            ];
            self.row(&TASKS, &row)?;
            for &from in task.stored_dependencies() {
                let from_kind = task.other(from)?.kind().name();
                let row = [
                    Int(number(from)),
                    Int(number(own)),
                    Int(from.context.get().into()),
                    Int(own.context.get().into()),
                    Text(from_kind),
                    Text(kind),
                ];
                self.row(&EDGES, &row)?;
            }
        }
        Ok(())
    }

    /// Allocations, mappings and synchronisations, at the call that ends the block before; counts
    /// the blocks on the way.
    fn others(
        &mut self,
        position: u32,
        task: &Task<'g>,
        reader: &mut Reader<'g, Mmap>,
        counts: &mut BlockCounts,
    ) -> Result<()> {
        let id = task.id();
        let first = Moment::first(position, task);
        let (mut last, mut index) = (None, 0);
        reader.open(task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                let at =
                    [Int(id.context.get().into()), Int(number(id)), Int(first.later(index).time())];
                match &piece {
                    Piece::Action(Action::Sync { op, object }) => {
                        // A task that is one is where the task before it ends.
                        let block = match last {
                            None => block_before(task)?,
                            found => found,
                        };
                        let call = self.call(block);
                        let what = [Text(op.name()), Address(*object)];
                        let row = [&at[..], &what, &columns(&call)[1..]].concat();
                        self.row(&SYNCHRONISATIONS, &row)?;
                    }
                    Piece::Action(action) => {
                        if let Some((event, address, bytes)) = life(action) {
                            let call = self.call(last);
                            let what = [Text(event), Address(address), Maybe(bytes)];
                            let row = [&at[..], &what, &columns(&call)].concat();
                            self.row(&ALLOCATIONS, &row)?;
                        }
                    }
                    _ => {}
                }
                counts.add_piece(&piece);
                last = piece.last_block().or(last);
                index += piece.actions();
            }
        }
        Ok(())
    }

    fn waits(&mut self, context: ContextId) -> Result<()> {
        for part in Segments::new(self.graph, context)? {
            let part = part?;
            let State::Waiting(cause) = part.state else {
                continue;
            };
            let block = match part.call.and_then(LongCall::block) {
                Some(block) => Some(block),
                None => block_before(&part.task)?,
            };
            let call = self.call(block);
            let wait = [
                Int(context.get().into()),
                Int(number(part.task.id())),
                Text(cause.name()),
                Int(part.from_ns),
                Int(part.to_ns - part.from_ns),
            ];
            self.row(&WAITS, &[&wait[..], &columns(&call)].concat())?;
        }
        Ok(())
    }

    fn call(&mut self, block: Option<BlockId>) -> Rc<(Place, String)> {
        let info = self.graph.info();
        let found = || block.map(|block| Place::of_call_or_block(info, block)).unwrap_or_default();
        Rc::clone(self.calls.entry(block).or_insert_with(|| found().into()))
    }

    fn contexts(&mut self) -> Result<()> {
        for context in self.graph.contexts() {
            let flag = |flag: u8| Flag(context.flags & flag != 0);
            let rank = rank(self.graph, context.space);
            let row = [
                Int(context.id.get().into()),
                Text(&context.name),
                rank,
                Int(context.task_count.into()),
                Int(context.first_ns),
                Int(context.last_ns),
                Maybe(context.creator.map(number)),
                flag(Context::ANNOUNCED),
                flag(Context::JOINED),
                flag(Context::DETACHED),
                flag(Context::CUT),
            ];
            self.row(&CONTEXTS, &row)?;
        }
        Ok(())
    }

    fn executors(&mut self) -> Result<()> {
        for executor in self.graph.executors() {
            let rank = rank(self.graph, executor.space);
            let thread = Maybe(known(executor.tid));
            self.row(&EXECUTORS, &[Int(executor.id.get().into()), thread, rank])?;
        }
        Ok(())
    }

    fn functions(&mut self) -> Result<()> {
        let info = self.graph.info();
        for (at, function) in (0..).zip(&info.functions) {
            let file = info.files.get(function.file as usize);
            let module = info.modules.get(function.module as usize);
            let row = [
                Int(at),
                Text(&function.name),
                Text(file.map_or("", String::as_str)),
                Maybe(known(function.line)),
                Text(module.map_or("", |module| &module.name)),
            ];
            self.row(&FUNCTIONS, &row)?;
        }
        Ok(())
    }

    fn blocks(&mut self) -> Result<()> {
        let info = self.graph.info();
        let executions = std::mem::take(&mut self.executions);
        for ((at, block), executions) in (0..).zip(&info.blocks).zip(executions) {
            let flag = |flag: u8| Flag(block.flags & flag != 0);
            let call = block.call.as_ref();
            let row = [
                Int(at),
                Int(block.function.get().into()),
                Maybe(known(info.line_of(block))),
                Int(block.ir_ops.into()),
                Int(block.op_count.into()),
                flag(Block::ENTRY),
                flag(Block::RETURN),
                flag(Block::LOOP_HEADER),
                Text(call.map_or("", |call| &call.callee)),
                Maybe(info.call_line_of(block).and_then(known)),
                Int(executions),
            ];
            self.row(&BLOCKS, &row)?;
        }
        Ok(())
    }
}

/// The callee of a call, and its function, file and line.
fn columns((Place { function, file, line }, callee): &(Place, String)) -> [Value<'_>; 4] {
    [Text(callee), Text(function), Text(file), Maybe(known(*line))]
}
