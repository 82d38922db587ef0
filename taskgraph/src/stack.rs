//! Call stacks: the functions that a context is in, followed through the blocks it executes.

use crate::id::{BlockId, FunctionId};
use crate::statics::{Block, StaticInfo};

/// A function that was entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame {
    /// The function.
    pub function: FunctionId,
    /// The block that called the function, which is the block executed before. `None` at the bottom, and if the
    /// caller is not recorded.
    pub called_from: Option<BlockId>,
    /// Whether it returns when what it has called does.
    leaving: bool,
}

/// The call stack of a context, kept up to date with each block it executes.
///
/// A block that begins a function is a call; one that returns ends it, after the call that it may end in. A block of a
/// function further down means that those above were left (`longjmp`, an exception); one of a function that is nowhere on
/// the stack, that it was entered where nothing is recorded: it then replaces nothing and stands on top.
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
    /// Whether the last executed block ends the function on top, and whether it does so after a call.
    returns: bool,
    calls: bool,
}

impl CallStack {
    /// Executes the next block of the context. [`CallStack::frames`] then describes the stack during that block.
    pub fn step(&mut self, info: &StaticInfo, id: BlockId) {
        let block = info.block(id);
        let enters = block.is_some_and(|block| block.flags & Block::ENTRY != 0);
        if std::mem::take(&mut self.returns) {
            match self.frames.last_mut().filter(|_| enters && self.calls) {
                Some(top) => top.leaving = true,
                None => self.leave(),
            }
        }
        let Some(block) = block else { return };
        let function = block.function;
        let stays = |frame: &StackFrame| frame.function == function && !frame.leaving;
        if enters {
            self.enter(function);
        } else if !self.frames.last().is_some_and(stays) {
            match self.frames.iter().rposition(stays) {
                Some(at) => self.frames.truncate(at + 1),
                None => self.enter(function),
            }
        }
        self.last = Some(id);
        self.returns = block.flags & Block::RETURN != 0;
        self.calls = block.call.is_some();
    }

    fn enter(&mut self, function: FunctionId) {
        let inside = !self.frames.is_empty();
        self.frames.push(StackFrame {
            function,
            called_from: self.last.filter(|_| inside),
            leaving: false,
        });
    }

    /// The function on top returns, and so do those that only waited for it.
    fn leave(&mut self) {
        self.frames.pop();
        while self.frames.last().is_some_and(|frame| frame.leaving) {
            self.frames.pop();
        }
    }

    /// The functions the context is in, the outermost first.
    #[must_use]
    pub fn frames(&self) -> &[StackFrame] {
        &self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::GraphBuilder;
    use crate::statics::CallSite;

    #[test]
    fn calls_returns_recursion_and_jumps_out_are_followed() {
        let mut b = GraphBuilder::new();
        let mut named = |name, flags, calls: bool| {
            let id = b.block(name, "a.c", 1, &[]);
            let block = &mut b.info_mut().blocks[id.index()];
            block.flags = flags;
            block.call = calls.then(CallSite::default);
            id
        };
        let main = named("main", Block::ENTRY, true);
        let main_end = named("main", Block::RETURN, false);
        let f = named("f", Block::ENTRY, true);
        let f_end = named("f", Block::RETURN, false);
        let g = named("g", Block::ENTRY, false);
        // It calls f or a function that is not recorded, and returns.
        let h = named("h", Block::ENTRY | Block::RETURN, true);
        let main_calls = named("main", 0, true);
        let order = [
            (main, vec!["main"]),
            (f, vec!["main", "f"]),
            (f, vec!["main", "f", "f"]),
            (f_end, vec!["main", "f", "f"]),
            (g, vec!["main", "f", "g"]),
            (main_calls, vec!["main"]),
            (h, vec!["main", "h"]),
            (f, vec!["main", "h", "f"]),
            (f_end, vec!["main", "h", "f"]),
            (main_calls, vec!["main"]),
            (h, vec!["main", "h"]),
            (main_end, vec!["main"]),
            (main, vec!["main"]),
        ];
        let context = b.context("main");
        b.work(context, 0, 1, |_| {});
        let graph = b.build().unwrap();
        let mut stack = CallStack::default();
        for (at, (block, want)) in order.into_iter().enumerate() {
            stack.step(graph.info(), block);
            let name =
                |frame: &StackFrame| graph.info().function(frame.function).unwrap().name.clone();
            let got: Vec<_> = stack.frames().iter().map(name).collect();
            assert_eq!(got, want, "after {at}");
            if at == 2 {
                assert_eq!(stack.frames()[1].called_from, Some(main));
            }
        }
    }
}
