//! Walks one execution of a path: which nodes are executed, in order. The iterations of an affine
//! loop are one step.

use crate::path::Step;
use crate::path::compiled::{CompiledFunction, CompiledPath};
use crate::path::nest::NestShape;
use crate::path::parts::{CompiledLoop, State};

/// A loop with fewer iterations than this is walked node by node.
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

/// Where the walk gets trip counts from, and what it does with affine loops.
pub trait Visit {
    /// How often the back edge of loop `index`, which is entered now, is taken.
    fn count(&mut self, index: u32, l: &CompiledLoop, state: &State) -> u64;
    /// A flat loop is about to execute so many whole iterations. Returns false if its nodes should
    /// be walked one by one.
    fn run(&mut self, index: u32, l: &CompiledLoop, iterations: u64, state: &State) -> bool;
    /// A nest is to be executed, its outermost loop with this trip count: the trip counts of all
    /// its loops if it is taken as one, `None` to have its nodes one by one.
    fn nest(
        &mut self,
        _nest: &NestShape,
        _count: u64,
        _cut: bool,
        _f: &CompiledFunction,
        _state: &State,
    ) -> Option<&[u64]> {
        None
    }
    /// All iterations of a loop are over, unless a nest had it.
    fn ended(&mut self, _: &CompiledLoop) {}
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
pub enum Walked {
    /// A node is executed: load its leaves.
    Node(u32),
    /// [`Visit::run`] took a loop.
    Run(u32),
    /// [`Visit::nest`] took a loop; whether it is cut.
    Nest(u32, bool),
    /// The path is over.
    End,
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

    /// Goes on to the next execution.
    #[inline]
    pub fn next(
        &mut self,
        f: &CompiledFunction,
        path: &CompiledPath,
        state: &mut State,
        visit: &mut impl Visit,
    ) -> Walked {
        loop {
            if !self.levels.is_empty() {
                if let Some(found) = self.inside(f, state, visit) {
                    return found;
                }
                continue;
            }
            let Some(step) = path.path.steps.get(self.step) else {
                return Walked::End;
            };
            self.step += 1;
            match *step {
                Step::Node(n) => return Walked::Node(n),
                Step::Enter(_) | Step::Next(_) => state.step(*step),
                Step::Loop { index, cut, resumed } => {
                    if let Some(found) = self.enter(f, index, cut, resumed, state, visit) {
                        return found;
                    }
                }
            }
        }
    }

    fn enter(
        &mut self,
        f: &CompiledFunction,
        index: u32,
        cut: bool,
        resumed: bool,
        state: &mut State,
        visit: &mut impl Visit,
    ) -> Option<Walked> {
        let at = index as usize;
        let l = f.loops[at].as_ref()?;
        let count = visit.count(index, l, state);
        let base = if resumed { state.iterations[at].wrapping_add(1) } else { 0 };
        state.iterations[at] = base;
        let whole = l.whole(count, cut);
        if let Some(nest) = f.nests[at].as_ref().filter(|_| whole >= MIN_RUN)
            && let Some(counts) = visit.nest(nest, count, cut, f, state)
        {
            nest.leave(counts, cut, state);
            leave(state, at, base, count, cut);
            return Some(Walked::Nest(index, cut));
        }
        let level = Level { index, base, count, done: 0, at: 0, cut };
        if l.flat.is_some() && whole >= MIN_RUN && visit.run(index, l, whole, state) {
            if l.tail(cut) > 0 {
                self.levels.push(Level { done: count, ..level });
            } else {
                leave(state, at, base, count, cut);
                visit.ended(l);
            }
            return Some(Walked::Run(index));
        }
        self.levels.push(level);
        None
    }

    /// The next node of the innermost loop.
    fn inside(
        &mut self,
        f: &CompiledFunction,
        state: &mut State,
        visit: &mut impl Visit,
    ) -> Option<Walked> {
        let level = self.levels.last_mut()?;
        let at = level.index as usize;
        let Some(l) = f.loops[at].as_ref() else {
            self.levels.pop();
            return None;
        };
        let last = level.done == level.count;
        let end = match (last, level.cut) {
            (true, true) => 0,
            (true, false) => l.last,
            (false, _) => l.body.len(),
        };
        if level.at >= end {
            if last {
                let Level { base, count, cut, .. } = *level;
                leave(state, at, base, count, cut);
                visit.ended(l);
                self.levels.pop();
            } else {
                level.done += 1;
                level.at = 0;
            }
            return None;
        }
        if level.at == 0 {
            state.iterations[at] = level.base.wrapping_add(level.done);
        }
        let n = l.body[level.at];
        level.at += 1;
        match f.nodes[n as usize].collapsed {
            Some(inner) if level.at > 1 => self.enter(f, inner, false, false, state, visit),
            _ => Some(Walked::Node(n)),
        }
    }
}

/// Ends a loop. After a cut the first iteration of the next path follows the last one executed
/// here.
#[inline]
fn leave(state: &mut State, at: usize, base: u64, count: u64, cut: bool) {
    let ended = base.wrapping_add(count);
    state.iterations[at] = if cut { ended.wrapping_sub(1) } else { ended };
}
