//! Walks one execution of a path: which nodes are executed, in order. All that executes, counts or
//! passes over paths is a [`Visit`] of this walk.

use std::ops::ControlFlow;

use crate::path::Step;
use crate::path::compiled::{CompiledFunction, CompiledPath};
use crate::path::nest::NestShape;
use crate::path::parts::{CompiledLoop, State};

/// Loops with fewer iterations than this are no runs, and no nests.
pub const MIN_RUN: u64 = 4;

impl State {
    /// Forgets everything, for a fresh path of `f`.
    #[inline]
    pub fn begin(&mut self, f: &CompiledFunction) {
        self.slots.clear();
        self.slots.resize(f.slots, 0);
        self.iterations.clear();
        self.iterations.resize(f.loops.len(), 0);
    }

    /// Sets the iteration number of a plain loop as a step says. Other steps change none.
    #[inline]
    pub fn step(&mut self, step: Step) {
        match step {
            Step::Enter(l) => self.iterations[l as usize] = 0,
            Step::Next(l) => {
                let i = &mut self.iterations[l as usize];
                *i = i.wrapping_add(1);
            }
            Step::Node(_) | Step::Loop { .. } => {}
        }
    }

    /// Whether the sizes of the state are those of `f`.
    #[inline]
    #[must_use]
    pub fn fits(&self, f: &CompiledFunction) -> bool {
        self.slots.len() == f.slots && self.iterations.len() == f.loops.len()
    }
}

/// What somebody does with an execution of a path. Each method may stop the walk, which then can go
/// on behind what it was stopped at.
pub trait Visit<'f> {
    /// What the walk is stopped with.
    type Stop;
    /// A node is executed, whose leaves must become known.
    fn node(&mut self, n: u32, state: &mut State) -> ControlFlow<Self::Stop>;
    /// How often the back edge of a loop, which is entered now, is taken.
    fn count(&mut self, l: &'f CompiledLoop, state: &State) -> ControlFlow<Self::Stop, u64>;
    /// A loop that has no inner loops is to execute whole iterations. Takes all of them, and makes
    /// known what they leave, or returns false to have their nodes one by one.
    fn run(&mut self, l: Entered<'f>, state: &mut State) -> ControlFlow<Self::Stop, bool>;
    /// A nest is to be executed. Takes all of it, or returns false to have its nodes one by one.
    fn nest(
        &mut self,
        _nest: &'f NestShape,
        _outermost: Entered<'f>,
        _state: &mut State,
    ) -> ControlFlow<Self::Stop, bool> {
        ControlFlow::Continue(false)
    }
    /// All iterations of a loop are over, unless a nest had it.
    fn ended(&mut self, _: &CompiledLoop) {}
}

/// A loop that is entered.
#[derive(Clone, Copy, Debug)]
pub struct Entered<'f> {
    /// The number of the loop in its function.
    pub index: usize,
    /// The loop.
    pub own: &'f CompiledLoop,
    /// How often its back edge is taken.
    pub count: u64,
    /// Whether only whole iterations are executed.
    pub cut: bool,
    /// The number of whole iterations.
    pub whole: u64,
}

/// A loop whose iterations are walked one by one.
#[derive(Clone, Copy, Debug)]
struct Level {
    index: u32,
    base: u64,
    count: u64,
    /// Number of iterations begun.
    done: u64,
    /// Next place in the body.
    at: usize,
    cut: bool,
}

/// A place within one execution of a path.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    step: usize,
    levels: Vec<Level>,
    /// Working memory of who walks: the counts of a nest.
    pub(super) counts: Vec<u64>,
}

impl Walk {
    /// Goes to the start of a path.
    #[inline]
    pub fn restart(&mut self) {
        self.step = 0;
        self.levels.clear();
    }

    /// Goes on to the end of the path, or until `visit` stops the walk.
    ///
    /// # Errors
    /// What `visit` stops it with.
    #[inline]
    pub fn go<'f, V: Visit<'f>>(
        &mut self,
        f: &'f CompiledFunction,
        path: &CompiledPath,
        state: &mut State,
        visit: &mut V,
    ) -> ControlFlow<V::Stop> {
        loop {
            if !self.levels.is_empty() {
                self.inside(f, state, visit)?;
            }
            let Some(step) = path.path.steps.get(self.step) else {
                return ControlFlow::Continue(());
            };
            self.step += 1;
            match *step {
                Step::Node(n) => visit.node(n, state)?,
                Step::Enter(_) | Step::Next(_) => state.step(*step),
                Step::Loop { index, cut, resumed } => {
                    self.enter(f, (index, cut, resumed), state, visit)?;
                }
            }
        }
    }

    fn enter<'f, V: Visit<'f>>(
        &mut self,
        f: &'f CompiledFunction,
        (index, cut, resumed): (u32, bool, bool),
        state: &mut State,
        visit: &mut V,
    ) -> ControlFlow<V::Stop> {
        let at = index as usize;
        let Some(own) = f.loops[at].as_ref() else {
            return ControlFlow::Continue(());
        };
        let count = visit.count(own, state)?;
        let base = if resumed { state.iterations[at].wrapping_add(1) } else { 0 };
        state.iterations[at] = base;
        let whole = own.whole(count, cut);
        let entered = Entered { index: at, own, count, cut, whole };
        if let Some(nest) = f.nests[at].as_ref().filter(|_| whole >= MIN_RUN) {
            let taken = visit.nest(nest, entered, state);
            if !matches!(taken, ControlFlow::Continue(false)) {
                leave(state, at, base, count, cut);
                return taken.map_continue(|_| ());
            }
        }
        let level = Level { index, base, count, done: 0, at: 0, cut };
        if whole > 0 && !own.nested {
            let taken = visit.run(entered, state);
            if !matches!(taken, ControlFlow::Continue(false)) {
                if !cut && own.last < own.body.len() {
                    self.levels.push(Level { done: count, ..level });
                } else {
                    leave(state, at, base, count, cut);
                    visit.ended(own);
                }
                return taken.map_continue(|_| ());
            }
        }
        self.levels.push(level);
        ControlFlow::Continue(())
    }

    /// Goes to the end of the loops that were entered.
    fn inside<'f, V: Visit<'f>>(
        &mut self,
        f: &'f CompiledFunction,
        state: &mut State,
        visit: &mut V,
    ) -> ControlFlow<V::Stop> {
        while let Some(level) = self.levels.last_mut() {
            let at = level.index as usize;
            let Some(l) = f.loops[at].as_ref() else {
                self.levels.pop();
                continue;
            };
            let last = level.done == level.count;
            let end = match (last, level.cut) {
                (true, true) => 0,
                (true, false) => l.last,
                (false, _) => l.body.len(),
            };
            if level.at == 0 && end > 0 {
                state.iterations[at] = level.base.wrapping_add(level.done);
            }
            let mut inner = None;
            for n in &l.body[level.at.min(end)..end] {
                level.at += 1;
                inner = f.nodes[*n as usize].collapsed.filter(|_| level.at > 1);
                if inner.is_some() {
                    break;
                }
                visit.node(*n, state)?;
            }
            if let Some(inner) = inner {
                self.enter(f, (inner, false, false), state, visit)?;
            } else if last {
                let Level { base, count, cut, .. } = *level;
                leave(state, at, base, count, cut);
                visit.ended(l);
                self.levels.pop();
            } else {
                level.done += 1;
                level.at = 0;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Ends a loop. After a cut the first iteration of the next path follows the last one executed
/// here.
#[inline]
fn leave(state: &mut State, at: usize, base: u64, count: u64, cut: bool) {
    let ended = base.wrapping_add(count);
    state.iterations[at] = if cut { ended.wrapping_sub(1) } else { ended };
}
