//! Call stacks: the functions that a context is in, followed through the blocks it executes.

use crate::id::{BlockId, FunctionId};
use crate::statics::{Block, StaticInfo};

/// A function that was entered and not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackFrame<T = ()> {
    /// The function.
    pub function: FunctionId,
    /// The block that called the function. `None` at the bottom, and if the caller is not recorded.
    pub called_from: Option<BlockId>,
    /// What whoever follows the stack keeps with the invocation.
    pub value: T,
    /// The block whose call is under way.
    call: Option<BlockId>,
    /// Whether it returns when that call does.
    leaving: bool,
}

impl<T> StackFrame<T> {
    /// The block whose call is under way, if the last block of the function ends in one.
    pub fn call(&self) -> Option<BlockId> {
        self.call
    }
}

/// A function on a call stack.
pub trait Invocation {
    /// The function, if it is recorded.
    fn function(&self) -> Option<FunctionId>;
    /// Whether it returns when the call that is under way in it does.
    fn leaves(&self) -> bool;
}

impl<T> Invocation for StackFrame<T> {
    fn function(&self) -> Option<FunctionId> {
        Some(self.function)
    }

    fn leaves(&self) -> bool {
        self.leaving
    }
}

/// What the execution of a block does to a call stack before the block is executed.
///
/// A block that begins a function is a call by the function on top, or by what that one has called
/// and nothing is recorded of. A block of a function further down means that those above were left
/// (`longjmp`, an exception, or a call with which a function leaves); one of a function that is
/// nowhere on the stack, that it was entered where nothing is recorded: it then stands on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackChange {
    /// The number of functions that stay; those above have been left.
    pub keep: usize,
    /// Whether a function is then put on top.
    pub enters: bool,
    /// Whether the call that is under way below it may be what called it.
    pub called: bool,
}

impl StackChange {
    /// What a block of `function` does to the stack, the outermost invocation first; `entry`:
    /// whether it begins the function.
    pub fn of<I: Invocation>(frames: &[I], function: FunctionId, entry: bool) -> Self {
        let stays = |frame: &I| frame.function() == Some(function) && !frame.leaves();
        let new = |keep| Self { keep, enters: true, called: entry };
        if entry {
            return new(frames.len());
        }
        let Some(at) = frames.iter().rposition(stays) else {
            let left = frames.iter().skip(1).rev();
            let left = left.take_while(|frame| frame.leaves()).count();
            return new(frames.len() - left);
        };
        Self { keep: at + 1, enters: false, called: false }
    }
}

/// The call stack of a context, kept up to date with each block it executes ([`StackChange`]).
///
/// A block that returns ends its function, but for the outermost one, in which code without a
/// recorded caller may follow. If the block also calls, its function is left when another one
/// further down goes on.
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallStack<T = ()> {
    frames: Vec<StackFrame<T>>,
    /// Whether the function on top returned with the last block.
    returned: bool,
}

impl<T> Default for CallStack<T> {
    fn default() -> Self {
        Self { frames: Vec::new(), returned: false }
    }
}

impl CallStack {
    /// Executes the next block of the context. [`CallStack::frames`] then describes the stack
    /// during that block.
    pub fn step(&mut self, info: &StaticInfo, id: BlockId) {
        self.step_with(info, id, |_, _, _| ());
    }
}

impl<T> CallStack<T> {
    /// The same; `value` makes what is kept with an invocation, if one begins, from the invocation
    /// below it, the block that called it, if it is recorded, and the function.
    pub fn step_with(
        &mut self,
        info: &StaticInfo,
        id: BlockId,
        value: impl FnOnce(Option<&T>, Option<BlockId>, FunctionId) -> T,
    ) {
        self.settle();
        let Some(block) = info.block(id) else { return };
        let function = block.function;
        let (calls, returns) = (block.call.is_some(), block.flags & Block::RETURN != 0);
        let change = StackChange::of(&self.frames, function, block.flags & Block::ENTRY != 0);
        self.frames.truncate(change.keep);
        if change.enters {
            if let Some(top) = self.frames.last_mut().filter(|_| !change.called) {
                top.call = None;
            }
            let below = self.frames.last();
            let call = below.and_then(|below| below.call);
            let value = value(below.map(|below| &below.value), call, function);
            self.push(function, call, value);
        }
        if let Some(top) = self.frames.last_mut() {
            top.call = calls.then_some(id);
            top.leaving = calls && returns;
        }
        self.returned = returns && !calls && self.frames.len() > 1;
    }

    /// Whether a block neither begins nor ends an invocation, wherever in the one on top it is
    /// executed.
    #[must_use]
    pub fn stays(&self, block: &Block) -> bool {
        let top = self.frames.last().filter(|top| !top.leaving && !self.returned);
        let same = top.is_some_and(|top| top.function == block.function);
        same && block.flags & (Block::ENTRY | Block::RETURN) == 0
    }

    /// Puts a function on top.
    pub fn push(&mut self, function: FunctionId, called_from: Option<BlockId>, value: T) {
        self.frames.push(StackFrame { function, called_from, value, call: None, leaving: false });
    }

    /// Leaves the function that returned with the last block. The next step does so, too.
    pub fn settle(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.frames.pop();
        }
    }

    /// The functions the context is in, the outermost first.
    #[must_use]
    pub fn frames(&self) -> &[StackFrame<T>] {
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
        let once = named("once", Block::ENTRY | Block::RETURN, false);
        let again = named("again", Block::ENTRY | Block::RETURN, false);
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
            // What h called is not recorded, and calls one function after the other.
            (once, vec!["main", "h", "once"]),
            (again, vec!["main", "h", "again"]),
            (main_end, vec!["main"]),
            // Code without a recorded caller follows in the outermost invocation.
            (main, vec!["main", "main"]),
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
            let last = stack.frames().last().and_then(|frame| frame.called_from);
            match at {
                1 => assert_eq!(last, Some(main)),
                11 | 12 => assert_eq!(last, Some(h), "after {at}"),
                14 => assert_eq!(last, None),
                _ => {}
            }
        }
    }
}
