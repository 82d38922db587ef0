//! The calling contexts of a graph: which invocation every block belongs to.
//!
//! The first function of a created context hangs below the invocation that created it.

use std::convert::Infallible;

use rustc_hash::FxHashMap;
use taskgraph::{Batch, BlockId, CallStack, ContextId, FunctionId, Piece, StaticInfo, TaskId};

use crate::analysis::{Graph, Task};
use crate::workspan::{SiteKey, Tree};

/// Executions of a run that are replayed at a time.
const CHUNK: u64 = 4096;

/// The function of what runs in a context before any recorded one.
const NOBODY: FunctionId = FunctionId::new(u32::MAX);

#[derive(Debug, Default)]
struct State {
    /// With the calling context of each invocation.
    stack: CallStack<u32>,
    /// The calling context that created this one, and the block that ends in the creation.
    creator: Option<(u32, Option<BlockId>)>,
}

/// Follows the call stacks of all contexts.
#[derive(Debug)]
pub(super) struct Walk<'g> {
    info: &'g StaticInfo,
    states: FxHashMap<ContextId, State>,
    created: FxHashMap<TaskId, (u32, Option<BlockId>)>,
    pub(super) tree: Tree,
    /// Invocations of each node of the tree.
    pub(super) calls: Vec<u64>,
    batch: Batch<'static>,
}

impl<'g> Walk<'g> {
    pub(super) fn new(info: &'g StaticInfo) -> Self {
        Self {
            info,
            states: FxHashMap::default(),
            created: FxHashMap::default(),
            tree: Tree::default(),
            calls: Vec::new(),
            batch: Batch::default(),
        }
    }

    /// A task begins.
    pub(super) fn enter(&mut self, graph: &Graph, task: &Task<'_>) {
        let id = task.id();
        if id.seq == 0 {
            let creator = graph.context(id.context).and_then(|context| context.creator);
            let state = self.states.entry(id.context).or_default();
            state.creator = creator.and_then(|task| self.created.get(&task).copied());
        }
    }

    /// A context is about to begin others with this task.
    pub(super) fn creates(&mut self, task: TaskId) {
        let at = self.top(task.context);
        self.created.insert(task, at);
    }

    /// The last task of a context is over.
    pub(super) fn ended(&mut self, context: ContextId) {
        self.states.remove(&context);
    }

    /// The innermost invocation of a context, and the block whose call is under way in it.
    pub(super) fn top(&mut self, context: ContextId) -> (u32, Option<BlockId>) {
        let mut state = self.states.remove(&context).unwrap_or_default();
        state.stack.settle();
        if state.stack.frames().is_empty() {
            let node = self.first(state.creator, None);
            state.stack.push(NOBODY, None, node);
        }
        let top = state.stack.frames().last();
        let top = top.map_or((Tree::ROOT, None), |top| (top.value, top.call()));
        self.states.insert(context, state);
        top
    }

    /// Calls `f` with parts of a piece, in order, and with the node of the tree that each belongs
    /// to.
    pub(super) fn piece(
        &mut self,
        context: ContextId,
        piece: &Piece<'_>,
        mut f: impl FnMut(u32, &Piece<'_>),
    ) {
        let mut state = self.states.remove(&context).unwrap_or_default();
        self.parts(&mut state, piece, &mut f);
        self.states.insert(context, state);
    }

    fn parts(&mut self, state: &mut State, piece: &Piece<'_>, f: &mut dyn FnMut(u32, &Piece<'_>)) {
        if matches!(piece, Piece::Action(_)) {
            return;
        }
        if let Some(node) = self.stays(state, piece) {
            return f(node, piece);
        }
        if let Piece::Run(run) = piece {
            let mut batch = std::mem::take(&mut self.batch);
            let all = run.executions();
            let mut from = 0;
            while from < all {
                let to = all.min(from + CHUNK);
                batch.expand(run, from..to);
                batch.pieces().for_each(|piece| self.parts(state, &piece, f));
                from = to;
            }
            self.batch = batch;
            return;
        }
        let mut part = |node: Option<u32>, range| {
            let Some(node) = node else { return };
            let Ok(()) = piece.for_each_part::<Infallible>(range, |_, part| {
                f(node, part);
                Ok(())
            });
        };
        // The piece is cut where the node changes.
        let (mut from, mut at, mut node) = (0, 0, None);
        let mut each = |block| {
            let own = Some(self.step(state, block));
            if node != own {
                part(node, from..at);
                (node, from) = (own, at);
            }
            at += 1;
        };
        match piece {
            Piece::Blocks(blocks) => blocks.blocks().for_each(&mut each),
            Piece::Nest(nest) => nest.for_each_block(&mut each),
            _ => {}
        }
        part(node, from..at);
    }

    /// The node of a piece in which no invocation begins or ends.
    fn stays(&mut self, state: &mut State, piece: &Piece<'_>) -> Option<u32> {
        let mut same = true;
        piece.for_each_times(|block, _| {
            let block = self.info.block(block);
            same &= block.is_some_and(|block| state.stack.stays(block));
        });
        let last = piece.last_block().filter(|_| same)?;
        Some(self.step(state, last))
    }

    /// Executes a block, and returns the node that it belongs to.
    fn step(&mut self, state: &mut State, block: BlockId) -> u32 {
        let State { stack, creator } = state;
        stack.step_with(self.info, block, |below, call, function| {
            let Some(&below) = below else {
                return self.first(*creator, Some(function));
            };
            self.invoke(below, SiteKey::of(call, Some(function), false), Some(function))
        });
        stack.frames().last().map_or(Tree::ROOT, |top| top.value)
    }

    /// Makes the first invocation of a context.
    fn first(
        &mut self,
        creator: Option<(u32, Option<BlockId>)>,
        function: Option<FunctionId>,
    ) -> u32 {
        let (from, key) = match creator {
            Some((from, block)) => (from, SiteKey::of(block, None, true)),
            None => (Tree::ROOT, SiteKey::of(None, function, false)),
        };
        self.invoke(from, key, function)
    }

    fn invoke(&mut self, from: u32, key: SiteKey, function: Option<FunctionId>) -> u32 {
        let site = self.tree.site(key);
        let node = self.tree.child(from, site, function);
        self.calls.resize(self.tree.nodes().len(), 0);
        self.calls[node as usize] += 1;
        node
    }
}
