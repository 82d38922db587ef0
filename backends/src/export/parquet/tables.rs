//! Every table but that of the accesses.

use std::path::Path;

use anyhow::Result;
use bytes::Bytes;
use parquet::data_type::ByteArray;
use rustc_hash::FxHashMap;
use taskgraph::{
    Action, Block, BlockCounts, BlockId, ContextId, Mmap, Piece, Reader, StaticInfo, TaskId,
};

use super::file::Kind::{Flag, Int, MaybeInt, Text};
use super::file::{Field, Table};
use crate::analysis::source::Place;
use crate::analysis::{Graph, LongCall, Moment, Segments, State, Task};
use crate::export::code_of;
use crate::parallelism::block_before;

const CONTEXTS: [Field; 11] = [
    ("context", Int),
    ("name", Text),
    ("rank", MaybeInt),
    ("tasks", Int),
    ("first_ns", Int),
    ("last_ns", Int),
    ("creator", MaybeInt),
    ("announced", Flag),
    ("joined", Flag),
    ("detached", Flag),
    ("cut", Flag),
];

const FUNCTIONS: [Field; 5] = [
    ("function", Int),
    ("name", Text),
    ("file", Text),
    ("line", MaybeInt),
    ("module", Text),
];

const BLOCKS: [Field; 11] = [
    ("block", Int),
    ("function", Int),
    ("line", MaybeInt),
    ("instructions", Int),
    ("memory_operations", Int),
    ("entry", Flag),
    ("returns", Flag),
    ("loop_header", Flag),
    ("callee", Text),
    ("call_line", MaybeInt),
    ("executions", Int),
];

const EXECUTORS: [Field; 3] = [("executor", Int), ("thread", MaybeInt), ("rank", MaybeInt)];

const TASKS: [Field; 16] = [
    ("task", Int),
    ("context", Int),
    ("seq", Int),
    ("executor", Int),
    ("kind", Text),
    ("operation", Text),
    ("object", Int),
    ("start_ns", Int),
    ("end_ns", Int),
    ("blocks", Int),
    ("reads", Int),
    ("writes", Int),
    ("bytes", Int),
    ("actions", Int),
    ("function", MaybeInt),
    ("line", MaybeInt),
];

const EDGES: [Field; 6] = [
    ("from_task", Int),
    ("to_task", Int),
    ("from_context", Int),
    ("to_context", Int),
    ("from_kind", Text),
    ("to_kind", Text),
];

const WAITS: [Field; 9] = [
    ("context", Int),
    ("task", Int),
    ("cause", Text),
    ("from_ns", Int),
    ("ns", Int),
    ("callee", Text),
    ("function", Text),
    ("file", Text),
    ("line", MaybeInt),
];

const ALLOCATIONS: [Field; 10] = [
    ("context", Int),
    ("task", Int),
    ("at_ns", Int),
    ("event", Text),
    ("address", Int),
    ("bytes", MaybeInt),
    ("callee", Text),
    ("function", Text),
    ("file", Text),
    ("line", MaybeInt),
];

const SYNCHRONISATIONS: [Field; 8] = [
    ("context", Int),
    ("task", Int),
    ("at_ns", Int),
    ("operation", Text),
    ("object", Int),
    ("function", Text),
    ("file", Text),
    ("line", MaybeInt),
];

/// The number of a task as one column.
pub(super) fn number(id: TaskId) -> u64 {
    u64::from(id.context.get()) << 32 | u64::from(id.seq)
}

fn known(line: u32) -> Option<u64> {
    (line > 0).then_some(line.into())
}

/// A text that is the same all the time.
fn named(name: &'static str) -> ByteArray {
    Bytes::from_static(name.as_bytes()).into()
}

/// Texts that are used again and again.
#[derive(Default)]
struct Texts(FxHashMap<String, ByteArray>);

impl Texts {
    fn of(&mut self, text: &str) -> ByteArray {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let bytes = ByteArray::from(text);
        self.0.insert(text.to_owned(), bytes.clone());
        bytes
    }
}

/// The tables of a graph that are being written.
struct Tables<'g> {
    graph: &'g Graph,
    texts: Texts,
    tasks: Table,
    edges: Table,
    waits: Table,
    allocations: Table,
    synchronisations: Table,
    /// Executions by block.
    executions: Vec<u64>,
    /// Where the call at the end of a block is.
    calls: FxHashMap<Option<BlockId>, Call>,
}

/// A call in the columns of a table.
#[derive(Clone)]
struct Call {
    callee: ByteArray,
    function: ByteArray,
    file: ByteArray,
    line: Option<u64>,
}

/// Writes the tables, and returns how many rows each has.
pub(super) fn write(folder: &Path, graph: &Graph) -> Result<Vec<(&'static str, u64)>> {
    let create = |name: &str, fields: &[Field]| Table::create(&folder.join(name), fields);
    let mut tables = Tables {
        graph,
        texts: Texts::default(),
        tasks: create("tasks.parquet", &TASKS)?,
        edges: create("edges.parquet", &EDGES)?,
        waits: create("waits.parquet", &WAITS)?,
        allocations: create("allocations.parquet", &ALLOCATIONS)?,
        synchronisations: create("synchronisations.parquet", &SYNCHRONISATIONS)?,
        executions: vec![0; graph.info().blocks.len()],
        calls: FxHashMap::default(),
    };
    for (position, context) in (0..).zip(graph.contexts()) {
        tables.context(position, context.id)?;
    }
    let contexts = contexts(graph, create("contexts.parquet", &CONTEXTS)?)?;
    let executors = executors(graph, create("executors.parquet", &EXECUTORS)?)?;
    let functions = functions(graph, create("functions.parquet", &FUNCTIONS)?)?;
    let blocks = create("blocks.parquet", &BLOCKS)?;
    let blocks = blocks_of(graph.info(), &tables.executions, &mut tables.texts, blocks)?;
    Ok(vec![
        ("tasks", tables.tasks.finish()?),
        ("edges", tables.edges.finish()?),
        ("contexts", contexts),
        ("executors", executors),
        ("functions", functions),
        ("blocks", blocks),
        ("waits", tables.waits.finish()?),
        ("allocation events", tables.allocations.finish()?),
        ("synchronisations", tables.synchronisations.finish()?),
    ])
}

impl<'g> Tables<'g> {
    /// The context at this position.
    fn context(&mut self, position: u32, id: ContextId) -> Result<()> {
        let info = self.graph.info();
        let mut reader = Reader::new(self.graph, 1).without_accesses();
        let mut counts = BlockCounts::new();
        for task in self.graph.tasks_of(id) {
            let task = task?;
            let own = task.id();
            counts.clear();
            if task.action_count() > task.block_count() {
                self.others(position, &task, &mut reader, &mut counts)?;
            } else if !task.spans().is_empty() {
                reader.count_blocks(&task, &mut counts)?;
            }
            let code = code_of(info, &counts);
            for (block, times) in counts.iter() {
                if let Some(sum) = self.executions.get_mut(block.index()) {
                    *sum = sum.saturating_add(times);
                }
            }
            let kind = named(task.kind().name());
            self.tasks
                .row()?
                .int(number(own))
                .int(own.context.get().into())
                .int(own.seq.into())
                .int(task.executor().get().into())
                .text(&kind)
                .text(&named(task.op().name()))
                .bits(task.object())
                .int(task.start_ns())
                .int(task.end_ns())
                .int(task.block_count())
                .int(task.read_count())
                .int(task.write_count())
                .int(task.bytes_accessed())
                .int(task.action_count())
                .maybe(code.map(|code| code.0.get().into()))
                .maybe(code.and_then(|code| known(code.1)));
            for &from in task.stored_dependencies() {
                let from_kind = named(task.other(from)?.kind().name());
                self.edges
                    .row()?
                    .int(number(from))
                    .int(number(own))
                    .int(from.context.get().into())
                    .int(own.context.get().into())
                    .text(&from_kind)
                    .text(&kind);
            }
        }
        self.waits(id)
    }

    /// Allocations, mappings and synchronisations, at the call that ends the block before; counts the blocks on the way.
    fn others(
        &mut self,
        position: u32,
        task: &Task<'g>,
        reader: &mut Reader<'g, Mmap>,
        counts: &mut BlockCounts,
    ) -> Result<()> {
        let first = Moment::first(position, task);
        let (mut last, mut index) = (None, 0);
        let mut events = Vec::new();
        let mut synchronisations = Vec::new();
        reader.open(task);
        while let Some(batch) = reader.next()? {
            for piece in batch.pieces() {
                let event = match piece {
                    Piece::Action(Action::Alloc { addr, size, kind }) => {
                        Some((kind.name(), addr, Some(size)))
                    }
                    Piece::Action(Action::Free { addr }) => Some(("free", addr, None)),
                    Piece::Action(Action::Map { addr, size }) => Some(("map", addr, Some(size))),
                    Piece::Action(Action::Unmap { addr, size }) => {
                        Some(("unmap", addr, Some(size)))
                    }
                    Piece::Action(Action::Fresh { addr, size }) => {
                        Some(("fresh", addr, Some(size)))
                    }
                    Piece::Action(Action::Sync { op, object }) => {
                        synchronisations.push((index, op.name(), object, last));
                        None
                    }
                    _ => None,
                };
                events.extend(event.map(|(name, addr, size)| (index, name, addr, size, last)));
                counts.add_piece(&piece);
                last = piece.last_block().or(last);
                index += piece.actions();
            }
        }
        let id = task.id();
        for (index, event, address, bytes, block) in events {
            let call = self.call(block);
            self.allocations
                .row()?
                .int(id.context.get().into())
                .int(number(id))
                .int(first.later(index).time())
                .text(&named(event))
                .bits(address)
                .maybe(bytes)
                .text(&call.callee)
                .text(&call.function)
                .text(&call.file)
                .maybe(call.line);
        }
        for (index, operation, object, block) in synchronisations {
            // A task that is one is where the task before it ends.
            let block = match block {
                None => block_before(task)?,
                found => found,
            };
            let call = self.call(block);
            self.synchronisations
                .row()?
                .int(id.context.get().into())
                .int(number(id))
                .int(first.later(index).time())
                .text(&named(operation))
                .bits(object)
                .text(&call.function)
                .text(&call.file)
                .maybe(call.line);
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
            self.waits
                .row()?
                .int(context.get().into())
                .int(number(part.task.id()))
                .text(&named(cause.name()))
                .int(part.from_ns)
                .int(part.to_ns - part.from_ns)
                .text(&call.callee)
                .text(&call.function)
                .text(&call.file)
                .maybe(call.line);
        }
        Ok(())
    }

    fn call(&mut self, block: Option<BlockId>) -> Call {
        if let Some(known) = self.calls.get(&block) {
            return known.clone();
        }
        let info = self.graph.info();
        let found = block.map(|block| {
            Place::of_call(info, block)
                .unwrap_or_else(|| (Place::of_block(info, block), String::new()))
        });
        let (place, callee) = found.unwrap_or_default();
        let call = Call {
            callee: self.texts.of(&callee),
            function: self.texts.of(&place.function),
            file: self.texts.of(&place.file),
            line: known(place.line),
        };
        self.calls.insert(block, call.clone());
        call
    }
}

fn contexts(graph: &Graph, mut table: Table) -> Result<u64> {
    for context in graph.contexts() {
        let flag = |flag: u8| context.flags & flag != 0;
        let rank = graph.meta().ranks.get(usize::from(context.space));
        table
            .row()?
            .int(context.id.get().into())
            .text(&context.name.as_str().into())
            .maybe(rank.map(|rank| rank.rank.into()))
            .int(context.task_count.into())
            .int(context.first_ns)
            .int(context.last_ns)
            .maybe(context.creator.map(number))
            .flag(flag(taskgraph::Context::ANNOUNCED))
            .flag(flag(taskgraph::Context::JOINED))
            .flag(flag(taskgraph::Context::DETACHED))
            .flag(flag(taskgraph::Context::CUT));
    }
    table.finish()
}

fn executors(graph: &Graph, mut table: Table) -> Result<u64> {
    for executor in graph.executors() {
        let rank = graph.meta().ranks.get(usize::from(executor.space));
        table
            .row()?
            .int(executor.id.get().into())
            .maybe(known(executor.tid))
            .maybe(rank.map(|rank| rank.rank.into()));
    }
    table.finish()
}

fn functions(graph: &Graph, mut table: Table) -> Result<u64> {
    let info = graph.info();
    for (at, function) in (0..).zip(&info.functions) {
        let file = info.files.get(function.file as usize);
        let module = info.modules.get(function.module as usize);
        table
            .row()?
            .int(at)
            .text(&function.name.as_str().into())
            .text(&file.map_or("", String::as_str).into())
            .maybe(known(function.line))
            .text(&module.map_or("", |module| &module.name).into());
    }
    table.finish()
}

fn blocks_of(
    info: &StaticInfo,
    executions: &[u64],
    texts: &mut Texts,
    mut table: Table,
) -> Result<u64> {
    for ((at, block), &executions) in (0..).zip(&info.blocks).zip(executions) {
        let flag = |flag: u8| block.flags & flag != 0;
        let call = block.call.as_ref();
        table
            .row()?
            .int(at)
            .int(block.function.get().into())
            .maybe(known(info.line_of(block)))
            .int(block.ir_ops.into())
            .int(block.op_count.into())
            .flag(flag(Block::ENTRY))
            .flag(flag(Block::RETURN))
            .flag(flag(Block::LOOP_HEADER))
            .text(&texts.of(call.map_or("", |call| &call.callee)))
            .maybe(info.call_line_of(block).and_then(known))
            .int(executions);
    }
    table.finish()
}
