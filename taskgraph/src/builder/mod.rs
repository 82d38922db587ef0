//! Synthetic graphs in a few lines, for tests and examples of analyses.
//!
//! ```
//! use taskgraph::builder::GraphBuilder;
//! use taskgraph::{MemOp, SyncOp};
//!
//! let mut b = GraphBuilder::new();
//! let store = b.block("worker", "a.c", 10, &[MemOp::store(8)]);
//! let main = b.context("main");
//! let child = b.create(main);
//! b.work(child, 0, 50, |w| w.block(store, &[0x1000]));
//! b.work(main, 0, 80, |w| w.block(store, &[0x2000]));
//! b.join(main, child);
//! let graph = b.build()?;
//! assert_eq!(graph.summary().tasks.total(), 5);
//! assert_eq!(graph.verify()?.edges, 2);
//! # Ok::<(), taskgraph::Error>(())
//! ```

mod order;
mod work;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use crate::builder::order::breadth_first;
use crate::builder::work::{BuiltAction, put_actions};
use crate::context::Context;
use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{BlockId, ContextId, ExecutorId, FunctionId, TaskId};
use crate::meta::{RunMeta, Summary};
use crate::op::MemOp;
use crate::record::TaskRecord;
use crate::statics::{Block, Function, Module, StaticInfo};
use crate::writer::GraphWriter;
use crate::{SyncOp, TaskKind};

pub use work::WorkBuilder;

/// Builds a graph in memory.
///
/// Each context has a clock that starts when the context is created. A task without explicit times
/// starts at the clock, and every task moves the clock to its end. The breadth-first order is
/// computed from the edges and the start times.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    info: StaticInfo,
    functions: HashMap<(String, String), FunctionId>,
    contexts: Vec<BuiltContext>,
    edges: BTreeSet<(TaskId, TaskId)>,
    meta: RunMeta,
}

#[derive(Debug, Default)]
struct BuiltContext {
    name: String,
    creator: Option<TaskId>,
    flags: u8,
    first_ns: u64,
    clock: u64,
    tasks: Vec<BuiltTask>,
    executor: ExecutorId,
    /// Tasks of other contexts that the next task depends on.
    next_after: Vec<TaskId>,
}

#[derive(Debug)]
struct BuiltTask {
    record: TaskRecord,
    actions: Vec<BuiltAction>,
}

impl GraphBuilder {
    /// An empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A block of a function with memory operations. Functions, files and the one module appear at
    /// their first use.
    pub fn block(&mut self, function: &str, file: &str, line: u32, ops: &[MemOp]) -> BlockId {
        let function = self.function(function, file, line);
        let id = BlockId::new(number(self.info.blocks.len()));
        self.info.blocks.push(Block {
            function,
            line,
            first_op: number(self.info.ops.len()),
            op_count: number(ops.len()),
            ir_ops: 1 + number(ops.len()),
            ..Block::default()
        });
        self.info.ops.extend(ops.iter().cloned().map(|op| match op.line {
            0 => op.at(line),
            _ => op,
        }));
        id
    }

    fn function(&mut self, name: &str, file: &str, line: u32) -> FunctionId {
        let key = (name.to_owned(), file.to_owned());
        if let Some(&known) = self.functions.get(&key) {
            return known;
        }
        if self.info.modules.is_empty() {
            self.info.modules.push(Module { name: "synthetic".into(), ..Module::default() });
        }
        let known = self.info.files.iter().position(|f| f == file);
        let file_index = known.unwrap_or_else(|| {
            self.info.files.push(file.to_owned());
            self.info.files.len() - 1
        });
        let id = FunctionId::new(number(self.info.functions.len()));
        let file = number(file_index);
        self.info.functions.push(Function { name: name.to_owned(), file, line, module: 0 });
        self.functions.insert(key, id);
        id
    }

    /// The static tables, for what [`GraphBuilder::block`] does not set.
    pub fn info_mut(&mut self) -> &mut StaticInfo {
        &mut self.info
    }

    /// The run metadata.
    pub fn meta_mut(&mut self) -> &mut RunMeta {
        &mut self.meta
    }

    /// A context that no task creates: the first one, which counts as announced, or an unannounced
    /// thread.
    pub fn context(&mut self, name: &str) -> ContextId {
        let flags = if self.contexts.is_empty() { Context::ANNOUNCED } else { 0 };
        self.add_context(BuiltContext { name: name.to_owned(), flags, ..BuiltContext::default() })
    }

    fn add_context(&mut self, mut context: BuiltContext) -> ContextId {
        let id = ContextId::new(number(self.contexts.len()));
        context.executor = ExecutorId::new(id.get());
        self.contexts.push(context);
        id
    }

    /// Says who executes the tasks that are added to a context from now on. Without this, the
    /// executor of each context has the same number as the context.
    ///
    /// # Panics
    /// When the context was not made here.
    pub fn execute(&mut self, context: ContextId, executor: u32) {
        self.contexts[context.index()].executor = ExecutorId::new(executor);
    }

    /// A work task from `start` to `end` nanoseconds, with the actions `f` adds.
    pub fn work(
        &mut self,
        context: ContextId,
        start: u64,
        end: u64,
        f: impl FnOnce(&mut WorkBuilder),
    ) -> TaskId {
        let mut work = WorkBuilder::default();
        f(&mut work);
        let record = TaskRecord { start_ns: start, end_ns: end, ..TaskRecord::default() };
        self.add(context, record, work.actions)
    }

    /// Adds a Create task at the parent's clock and returns the child, whose clock starts there.
    /// The child's first task is the next work task added to it, or an empty one if another task is
    /// added first.
    pub fn create(&mut self, parent: ContextId) -> ContextId {
        let clock = self.contexts[parent.index()].clock;
        let object = self.contexts.len() as u64;
        let what = (TaskKind::Create, SyncOp::ThreadCreate);
        let creator = self.other(parent, what, object, (clock, clock));
        let child = self.add_context(BuiltContext {
            creator: Some(creator),
            flags: Context::ANNOUNCED,
            first_ns: clock,
            clock,
            ..BuiltContext::default()
        });
        self.edge(creator, TaskId::new(child, 0));
        child
    }

    /// Says that a context, which has tasks, was first seen at this time.
    pub fn seen(&mut self, context: ContextId, ns: u64) {
        self.contexts[context.index()].first_ns = ns;
    }

    /// Adds a Join task from the parent's clock to the child's if that is later. The child ends, so
    /// its tasks must be added before.
    pub fn join(&mut self, parent: ContextId, child: ContextId) -> TaskId {
        self.ensure_work(child);
        let last = self.last(child);
        let start = self.contexts[parent.index()].clock;
        let end = start.max(self.contexts[child.index()].clock);
        self.contexts[child.index()].flags |= Context::JOINED;
        let object = u64::from(child.get());
        let what = (TaskKind::Join, SyncOp::ThreadJoin);
        let id = self.other(parent, what, object, (start, end));
        self.edge(last, id);
        id
    }

    /// Says that the recording stopped before the context ended ([`Context::CUT`]).
    ///
    /// # Panics
    /// When the context was not made here.
    pub fn cut(&mut self, context: ContextId) {
        self.contexts[context.index()].flags |= Context::CUT;
    }

    /// Adds a Sync task of no duration at the context's clock. It has no edges: add them with
    /// [`GraphBuilder::edge`].
    pub fn sync(&mut self, context: ContextId, object: u64, op: SyncOp) -> TaskId {
        let clock = self.contexts[context.index()].clock;
        self.sync_at(context, object, op, clock, clock)
    }

    /// Adds a Sync task with these times.
    pub fn sync_at(
        &mut self,
        context: ContextId,
        object: u64,
        op: SyncOp,
        start: u64,
        end: u64,
    ) -> TaskId {
        self.other(context, (TaskKind::Sync, op), object, (start, end))
    }

    /// Adds a Barrier task of several contexts to the one with the smallest id, with the edges of a
    /// barrier: from the last task of each other context, and to its next task. The barrier lasts
    /// from the first arrival to the last, and all clocks move to its end.
    pub fn barrier(&mut self, contexts: &[ContextId], object: u64) -> TaskId {
        contexts.iter().for_each(|&c| self.ensure_work(c));
        let clocks = contexts.iter().map(|c| self.contexts[c.index()].clock);
        let (start, end) = (clocks.clone().min().unwrap_or(0), clocks.max().unwrap_or(0));
        let owner = contexts.iter().copied().min().unwrap_or_default();
        let what = (TaskKind::Barrier, SyncOp::Barrier);
        let id = self.other(owner, what, object, (start, end));
        for &c in contexts.iter().filter(|&&c| c != owner) {
            self.edge(self.last(c), id);
            let other = &mut self.contexts[c.index()];
            other.next_after.push(id);
            other.clock = end;
        }
        id
    }

    /// Adds a stored edge.
    pub fn edge(&mut self, from: TaskId, to: TaskId) {
        self.edges.insert((from, to));
    }

    /// Moves a context's clock.
    pub fn clock(&mut self, context: ContextId, ns: u64) {
        self.contexts[context.index()].clock = ns;
    }

    fn last(&self, context: ContextId) -> TaskId {
        TaskId::new(context, number(self.contexts[context.index()].tasks.len().saturating_sub(1)))
    }

    /// Gives a context without tasks a work task, since a context starts with one.
    fn ensure_work(&mut self, context: ContextId) {
        let c = &self.contexts[context.index()];
        if c.tasks.is_empty() {
            let clock = c.clock;
            self.work(context, clock, clock, |_| {});
        }
    }

    /// Adds a task that is not work, after a first one that is.
    fn other(
        &mut self,
        context: ContextId,
        (kind, op): (TaskKind, SyncOp),
        object: u64,
        (start_ns, end_ns): (u64, u64),
    ) -> TaskId {
        self.ensure_work(context);
        let record = TaskRecord { kind, op, object, start_ns, end_ns, ..TaskRecord::default() };
        self.add(context, record, Vec::new())
    }

    fn add(&mut self, context: ContextId, record: TaskRecord, actions: Vec<BuiltAction>) -> TaskId {
        let c = &mut self.contexts[context.index()];
        let id = TaskId::new(context, number(c.tasks.len()));
        if c.tasks.is_empty() {
            c.first_ns = record.start_ns;
        }
        c.clock = record.end_ns;
        let record = TaskRecord { id, executor: c.executor, ..record };
        c.tasks.push(BuiltTask { record, actions });
        let after = std::mem::take(&mut c.next_after);
        self.edges.extend(after.into_iter().map(|from| (from, id)));
        id
    }

    /// The graph, in memory.
    ///
    /// # Errors
    /// Edges that make a cycle or lead to tasks that do not exist; operands that do not fit their
    /// block.
    pub fn build(self) -> Result<TaskGraph<Vec<u8>>> {
        TaskGraph::from_bytes(self.bytes()?)
    }

    /// The bytes of the graph file.
    ///
    /// # Errors
    /// As [`GraphBuilder::build`].
    pub fn bytes(mut self) -> Result<Vec<u8>> {
        let mut writer = GraphWriter::in_memory(Arc::new(std::mem::take(&mut self.info)))?;
        let contexts = self.put(&mut writer)?;
        writer.finish_in_memory(contexts, self.meta)
    }

    /// Writes the graph to a file.
    ///
    /// # Errors
    /// As [`GraphBuilder::build`], and I/O.
    pub fn write(mut self, path: &Path) -> Result<Summary> {
        let mut writer = GraphWriter::create(path, Arc::new(std::mem::take(&mut self.info)))?;
        let contexts = self.put(&mut writer)?;
        writer.finish(contexts, self.meta)
    }

    fn put(&mut self, writer: &mut GraphWriter) -> Result<Vec<Context>> {
        for c in 0..self.contexts.len() {
            self.ensure_work(ContextId::new(number(c)));
        }
        for c in &mut self.contexts {
            put_actions(writer, &mut c.tasks)?;
        }
        let order = breadth_first(&self.contexts, &self.edges)?;
        let mut incoming: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        let mut outgoing: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
        for &(from, to) in &self.edges {
            incoming.entry(to).or_default().push(from);
            outgoing.entry(from).or_default().push(to);
        }
        for task in self.contexts.iter().flat_map(|c| &c.tasks) {
            let id = task.record.id;
            writer.put_task(&task.record, incoming.get(&id).map_or(&[], Vec::as_slice))?;
        }
        for (from, to) in &outgoing {
            writer.put_dependents(*from, to)?;
        }
        for id in order {
            writer.put_order(id)?;
        }
        let contexts = self.contexts.iter().enumerate().map(|(i, c)| Context {
            id: ContextId::new(number(i)),
            task_count: number(c.tasks.len()),
            first_ns: c.first_ns,
            last_ns: c.clock,
            creator: c.creator,
            name: c.name.clone(),
            flags: c.flags,
            space: 0,
        });
        Ok(contexts.collect())
    }
}

/// A number of things in memory; a synthetic graph never has 2^32 of them.
fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
