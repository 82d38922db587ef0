//! Fork-join programs executed into a graph: calls, spawns (contexts), syncs (joins).
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

use contech_backends::analysis::Graph;
use taskgraph::builder::GraphBuilder;
use taskgraph::{Block, BlockId, CallSite, ContextId};

/// Executes a program, block by block.
#[derive(Default)]
pub(crate) struct Recorder {
    /// For what has no method here.
    pub(crate) builder: GraphBuilder,
    /// Blocks of the current task of each context.
    open: Vec<Vec<BlockId>>,
    weights: Vec<u64>,
}

impl Recorder {
    /// A block of `ops` IR operations.
    pub(crate) fn block(&mut self, function: &str, line: u32, ops: u32, flags: u8) -> BlockId {
        self.declare(function, line, ops, flags, None)
    }

    /// A block of `ops` IR operations that ends with a call on `line`.
    pub(crate) fn call(&mut self, function: &str, line: u32, ops: u32, callee: &str) -> BlockId {
        let call = CallSite { callee: callee.to_owned(), line, inlined: 0 };
        self.declare(function, line, ops, 0, Some(call))
    }

    fn declare(
        &mut self,
        function: &str,
        line: u32,
        ops: u32,
        flags: u8,
        call: Option<CallSite>,
    ) -> BlockId {
        let id = self.builder.block(function, "program.c", line, &[]);
        let block: &mut Block = &mut self.builder.info_mut().blocks[id.index()];
        (block.ir_ops, block.flags, block.call) = (ops, flags, call);
        self.weights.push(u64::from(ops));
        id
    }

    /// IR operations of a block.
    pub(crate) fn weight(&self, block: BlockId) -> u64 {
        self.weights[block.index()]
    }

    /// The first context.
    pub(crate) fn main(&mut self) -> ContextId {
        self.context("main")
    }

    /// A context without a creator of its own.
    pub(crate) fn context(&mut self, name: &str) -> ContextId {
        let context = self.builder.context(name);
        self.open.push(Vec::new());
        context
    }

    /// Executes a block.
    pub(crate) fn run(&mut self, context: ContextId, block: BlockId) {
        self.open[context.index()].push(block);
    }

    /// Ends the current task of a context; it takes a nanosecond for each operation.
    pub(crate) fn cut(&mut self, context: ContextId) {
        let ns = self.open[context.index()].iter().map(|&block| self.weight(block)).sum();
        self.cut_after(context, ns);
    }

    /// Ends the current task of a context after `ns` nanoseconds.
    pub(crate) fn cut_after(&mut self, context: ContextId, ns: u64) {
        let blocks = std::mem::take(&mut self.open[context.index()]);
        if !blocks.is_empty() {
            self.builder.work(context, 0, ns, |w| {
                blocks.iter().for_each(|&block| w.block(block, &[]));
            });
        }
    }

    /// Creates a context.
    pub(crate) fn create(&mut self, parent: ContextId) -> ContextId {
        self.cut(parent);
        let child = self.builder.create(parent);
        self.open.push(Vec::new());
        child
    }

    /// Joins a context, which ends.
    pub(crate) fn join(&mut self, parent: ContextId, child: ContextId) {
        self.cut(parent);
        self.cut(child);
        self.builder.join(parent, child);
    }

    /// A barrier.
    pub(crate) fn barrier(&mut self, contexts: &[ContextId]) {
        contexts.iter().for_each(|&context| self.cut(context));
        self.builder.barrier(contexts, 0xba);
    }

    /// The graph.
    pub(crate) fn graph(mut self) -> Graph {
        for at in 0..self.open.len() {
            self.cut(ContextId::new(at as u32));
        }
        crate::graphs::graph(self.builder)
    }
}
