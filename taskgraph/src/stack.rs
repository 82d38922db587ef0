//! Call stacks: the functions that a context is in, followed through the blocks it executes.

use std::convert::Infallible;

use crate::batch::Piece;
use crate::error::Result;
use crate::graph::TaskGraph;
use crate::id::{BlockId, FunctionId, TaskId};
use crate::statics::{Block, StaticInfo};

/// A function that was entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The function.
    pub function: FunctionId,
    /// The block that called the function, which is the block executed before. `None` at the bottom, and if the
    /// caller is not recorded.
    pub called_from: Option<BlockId>,
}

/// The call stack of a context, kept up to date with each block it executes.
///
/// A block that begins a function is a call; one that returns ends it. A block of a function further down means that those
/// above were left (`longjmp`, an exception); one of a function that is nowhere on the stack, that it was entered where nothing
/// is recorded: it then replaces nothing and stands on top.
///
/// ```
/// use taskgraph::builder::GraphBuilder;
/// use taskgraph::{Action, Block, CallStack};
///
/// let mut b = GraphBuilder::new();
/// let outer = b.block("outer", "a.c", 1, &[]);
/// let inner = b.block("inner", "a.c", 9, &[]);
/// b.info_mut().blocks[outer.index()].flags = Block::ENTRY;
/// b.info_mut().blocks[inner.index()].flags = Block::ENTRY | Block::RETURN;
/// let main = b.context("main");
/// b.work(main, 0, 100, |w| {
///     w.block(outer, &[]);
///     w.block(inner, &[]);
/// });
/// let graph = b.build()?;
///
/// let mut stack = CallStack::default();
/// for task in graph.tasks_of(main) {
///     task?.for_each_block(|block| {
///         stack.step(graph.info(), block.id());
///         println!("{:?} at depth {}", block.id(), stack.frames().len());
///     })?;
/// }
/// # Ok::<(), taskgraph::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallStack {
    frames: Vec<StackFrame>,
    last: Option<BlockId>,
    /// Whether the last executed block ends the function on top.
    returns: bool,
}

impl CallStack {
    /// Executes the next block of the context. [`CallStack::frames`] then describes the stack during that block.
    pub fn step(&mut self, info: &StaticInfo, id: BlockId) {
        if std::mem::take(&mut self.returns) {
            self.frames.pop();
        }
        let Some(block) = info.block(id) else { return };
        let function = block.function;
        let on_top = self.frames.last().is_some_and(|f| f.function == function);
        if block.flags & Block::ENTRY != 0 {
            self.enter(function);
        } else if !on_top {
            match self.frames.iter().rposition(|f| f.function == function) {
                Some(at) => self.frames.truncate(at + 1),
                None => self.enter(function),
            }
        }
        self.last = Some(id);
        self.returns = block.flags & Block::RETURN != 0;
    }

    /// Executes a piece.
    fn piece(&mut self, info: &StaticInfo, piece: &Piece<'_>) {
        match piece {
            Piece::Blocks(blocks) => blocks.blocks().for_each(|block| self.step(info, block)),
            // Iterations are alike, so the stack after one iteration is the stack after each of them.
            Piece::Run(run) => run.first().for_each(|block| self.step(info, block.id())),
            Piece::Nest(nest) => {
                nest.for_each_times(|block, _| self.step(info, block));
                let last = piece.last_block().into_iter();
                last.for_each(|block| self.step(info, block));
            }
            Piece::Action(_) => {}
        }
    }

    fn enter(&mut self, function: FunctionId) {
        let inside = !self.frames.is_empty();
        self.frames.push(StackFrame {
            function,
            called_from: self.last.filter(|_| inside),
        });
    }

    /// The functions the context is in, the outermost first.
    #[must_use]
    pub fn frames(&self) -> &[StackFrame] {
        &self.frames
    }

    /// Names of the functions, the outermost first.
    pub fn names<'i>(&self, info: &'i StaticInfo) -> impl Iterator<Item = &'i str> {
        let name = |f: &StackFrame| info.function(f.function).map_or("", |f| f.name.as_str());
        self.frames.iter().map(name)
    }
}

impl<D: AsRef<[u8]>> TaskGraph<D> {
    /// The call stack of a task after it has executed so many blocks (0: where it begins; more than it has: where it ends).
    /// Follows the context from its beginning, with loops as runs; to look at many points follow it once with [`CallStack`].
    ///
    /// ```
    /// # use taskgraph::Block;
    /// # let mut b = taskgraph::builder::GraphBuilder::new();
    /// # let outer = b.block("outer", "a.c", 1, &[]);
    /// # b.info_mut().blocks[outer.index()].flags = Block::ENTRY;
    /// # let main = b.context("main");
    /// # b.work(main, 0, 100, |w| w.block(outer, &[]));
    /// # let graph = b.build()?;
    /// let stack = graph.call_stack("0:0".parse()?, 1)?;
    /// assert_eq!(stack.names(graph.info()).collect::<Vec<_>>(), ["outer"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No such task; damage.
    pub fn call_stack(&self, id: TaskId, blocks: u64) -> Result<CallStack> {
        let mut stack = CallStack::default();
        self.task(id)?;
        for task in self.tasks_of(id.context) {
            let task = task?;
            let mut left = if task.id() == id { blocks } else { u64::MAX };
            task.for_each_batch(|batch| {
                for piece in batch.pieces() {
                    let part = 0..piece.actions().min(left);
                    if let Piece::Action(_) = piece {
                        continue;
                    }
                    left -= part.end;
                    let Ok(()) = piece.for_each_part::<Infallible>(part, |_, part| {
                        stack.piece(self.info(), part);
                        Ok(())
                    });
                }
            })?;
            if task.id() == id {
                break;
            }
        }
        Ok(stack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::GraphBuilder;

    #[test]
    fn calls_returns_recursion_and_jumps_out_are_followed() {
        let mut b = GraphBuilder::new();
        let named = |b: &mut GraphBuilder, name, flags| {
            let id = b.block(name, "a.c", 1, &[]);
            b.info_mut().blocks[id.index()].flags = flags;
            id
        };
        let main = named(&mut b, "main", Block::ENTRY);
        let main_end = named(&mut b, "main", Block::RETURN);
        let f = named(&mut b, "f", Block::ENTRY);
        let f_end = named(&mut b, "f", Block::RETURN);
        let g = named(&mut b, "g", Block::ENTRY);
        let order = [main, f, f, f_end, g, main_end, main];
        let names = [
            vec!["main"],
            vec!["main", "f"],
            vec!["main", "f", "f"],
            vec!["main", "f", "f"],
            vec!["main", "f", "g"],
            vec!["main"],
            vec!["main"],
        ];
        let context = b.context("main");
        b.work(context, 0, 1, |w| {
            order[..3].iter().for_each(|b| w.block(*b, &[]))
        });
        b.work(context, 1, 2, |w| {
            order[3..].iter().for_each(|b| w.block(*b, &[]))
        });
        let graph = b.build().unwrap();
        for (executed, want) in (1..).zip(&names) {
            let (seq, blocks) = if executed <= 3 {
                (0, executed)
            } else {
                (1, executed - 3)
            };
            let stack = graph.call_stack(TaskId::new(context, seq), blocks).unwrap();
            let got: Vec<_> = stack.names(graph.info()).collect();
            assert_eq!(got, *want, "after {executed}");
        }
        let stack = graph.call_stack(TaskId::new(context, 0), 2).unwrap();
        assert_eq!(stack.frames()[1].called_from, Some(main));
        assert!(graph.call_stack(TaskId::new(context, 2), 0).is_err());
    }
}
