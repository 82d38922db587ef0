//! Feeds a graph to analyses. Each order that they ask for is one pass, in which the contents of a
//! task are decoded once for all.

use std::any::type_name;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use taskgraph::{Batch, BlockCounts, Context, ContextId, Piece};
use tracing::debug_span;

use super::by_time::by_time;
use super::executors::Executors;
use super::pieces::{one, pieces};
use super::reading::Reading;
use super::visitor::Visitor;
use super::{Analysis, Graph, Moment, Order, Reads, Task, Windows};

/// Number of decoded frames that a pass by task keeps: about as many as there are contexts that
/// alternate.
pub(super) const FRAMES: usize = 16;

/// The largest number of shards of an analysis that takes contexts in any order. A shard may be
/// large, and the tasks of rayon are many contexts.
const SHARDS: usize = 64;

/// A batch with so many actions is handed to several analyses at one time, if other passes leave
/// threads for that.
const MANY: u64 = 512;

/// An analysis that takes part in a pass, and its shards.
#[derive(Debug)]
pub struct Part<A: Analysis> {
    analysis: A,
    /// The shards by position of the context or by executor, for analyses that want these one by
    /// one; otherwise one shard.
    shards: Vec<Option<A::Shard>>,
    windows: Option<Windows>,
}

impl<A: Analysis> Part<A> {
    /// For an analysis that has seen nothing yet.
    #[must_use]
    pub fn new(analysis: A) -> Self {
        Self { windows: analysis.windows(), analysis, shards: Vec::new() }
    }

    /// The result, after [`run_all`].
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn finish(self, graph: &Graph) -> Result<A::Report> {
        let _step = debug_span!("finish", of = type_name::<A>()).entered();
        let (analysis, shards) = self.into_parts();
        analysis.finish(graph, shards)
    }

    /// The analysis, and the shards of everything it has seen, after [`run_all`].
    pub(crate) fn into_parts(self) -> (A, Vec<A::Shard>) {
        (self.analysis, self.shards.into_iter().flatten().collect())
    }

    /// Whether it has a shard for each context or executor.
    fn is_apart(&self) -> bool {
        matches!(self.analysis.order(), Order::PerContext | Order::PerExecutor)
    }

    /// Whether it sees no tasks.
    fn is_by_time(&self) -> bool {
        matches!(self.analysis.order(), Order::ByTime { .. } | Order::Stretches { .. })
    }

    /// The shard of the tasks of a context, by position, by an executor, and the windows of the
    /// pass.
    #[inline]
    fn shard(&mut self, context: u32, executor: u32) -> (&A, &mut A::Shard, &mut Option<Windows>) {
        let at = match self.analysis.order() {
            Order::PerContext => context as usize,
            Order::PerExecutor => executor as usize,
            _ => 0,
        };
        if self.shards.len() <= at {
            self.shards.resize_with(at + 1, || None);
        }
        let analysis = &self.analysis;
        let shard = self.shards[at].get_or_insert_with(|| analysis.shard());
        (analysis, shard, &mut self.windows)
    }
}

impl<A: Analysis> Visitor for Part<A> {
    fn order(&self) -> Order {
        self.analysis.order()
    }

    fn reads(&self) -> Reads {
        A::READS
    }

    fn counts(&self, task: &Task<'_>) -> bool {
        A::READS == Reads::Counts && self.analysis.counts(task)
    }

    fn synchronisation(&self) -> bool {
        // Who follows time counts actions.
        A::SYNCHRONISATION || self.is_by_time()
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.analysis.prepare(graph)
    }

    fn task(&mut self, context: u32, task: &Task<'_>) -> Result<()> {
        if self.is_by_time() {
            return Ok(());
        }
        let (analysis, shard, _) = self.shard(context, task.executor().get());
        analysis.task(shard, task)
    }

    fn batch(&mut self, first: Moment, batch: &Batch<'_>) -> Result<()> {
        let (analysis, shard, windows) = self.shard(first.context, first.executor);
        pieces(analysis, shard, first, batch, windows)
    }

    fn piece(&mut self, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        let (analysis, shard, windows) = self.shard(at.context, at.executor);
        one(analysis, shard, at, piece, windows)
    }

    fn done(&mut self, context: u32, task: &Task<'_>, counts: &BlockCounts) -> Result<()> {
        if self.is_by_time() {
            return Ok(());
        }
        let (analysis, shard, _) = self.shard(context, task.executor().get());
        analysis.done(shard, task, counts)
    }

    fn context_ended(&mut self, context: u32) {
        if self.analysis.order() == Order::PerContext {
            let (analysis, shard, _) = self.shard(context, 0);
            analysis.seal(shard);
        }
    }

    fn executor_ended(&mut self, executor: u32) {
        let (analysis, shard, _) = self.shard(0, executor);
        match analysis.order() {
            Order::PerExecutor => analysis.seal(shard),
            _ => analysis.ended(shard, executor),
        }
    }

    fn end(&mut self) {
        if !self.is_apart() {
            let (analysis, shard, _) = self.shard(0, 0);
            analysis.seal(shard);
        }
    }
}

/// Runs an analysis over a graph.
///
/// # Errors
/// The first error of the analysis or of the graph.
pub fn run<A: Analysis>(config: A::Config, graph: &Graph) -> Result<A::Report> {
    let mut part = Part::new(A::new(config, graph)?);
    part.prepare(graph)?;
    let contexts_apart = match part.order() {
        Order::PerContext | Order::Any => true,
        Order::PerExecutor => Executors::of(graph)?.are_contexts(),
        _ => false,
    };
    if !contexts_apart {
        pass(graph, &mut [&mut part])?;
        return part.finish(graph);
    }
    let alone = part.is_apart();
    let analysis = part.analysis;
    // There is only one analysis, so contexts are read in parallel.
    let contexts: Vec<(u32, Context)> = (0..).zip(graph.contexts()).collect();
    let each = if alone { 1 } else { contexts.len().div_ceil(SHARDS).max(1) };
    let shard = |some: &[(u32, Context)]| {
        let any = |reads| A::READS == reads;
        let mut reading = Reading::new(graph, 1, any, A::SYNCHRONISATION);
        let mut shard = analysis.shard();
        let mut windows = analysis.windows();
        let mut tasks = graph.walk_of(ContextId::default());
        for (number, context) in some {
            tasks.go_to(context.id);
            while let Some(task) = tasks.next()? {
                analysis.task(&mut shard, task)?;
                let counted = A::READS == Reads::Counts && analysis.counts(task);
                reading.task(*number, (task, counted), |first, batch| {
                    pieces(&analysis, &mut shard, first, batch, &mut windows)
                })?;
                analysis.done(&mut shard, task, &reading.counts)?;
            }
        }
        analysis.seal(&mut shard);
        Ok(shard)
    };
    let shards = contexts.par_chunks(each).map(shard).collect::<Result<_>>()?;
    analysis.finish(graph, shards)
}

/// Runs analyses over a graph: all are prepared, then there is one pass in the order of the graph,
/// and at the same time one for each way to interleave contexts by time. Each analysis then has its
/// result: [`Part::finish`].
///
/// # Errors
/// The first error of an analysis or of the graph.
pub fn run_all(graph: &Graph, visitors: &mut [&mut dyn Visitor]) -> Result<()> {
    let step = debug_span!("prepare").entered();
    let each = visitors.par_iter_mut().with_max_len(1);
    each.try_for_each(|visitor| visitor.prepare(graph))?;
    drop(step);
    let _step = debug_span!("pass").entered();
    pass(graph, visitors)
}

fn pass(graph: &Graph, visitors: &mut [&mut dyn Visitor]) -> Result<()> {
    // By order; whether no contents are read.
    type Pass = (Option<Order>, bool);
    let mut passes: Vec<(Pass, Vec<&mut dyn Visitor>)> = Vec::new();
    // Where most tasks access little, their batches are too small to be shared among threads. Who
    // reads no contents has a pass of its own then.
    let summary = graph.summary();
    let small = summary.accesses / MANY < summary.tasks.total();
    let many = small && rayon::current_num_threads() > 1;
    // What a single context does is in the order of time already.
    let single = graph.contexts().nth(1).is_none();
    for visitor in visitors {
        let pass = match visitor.order() {
            Order::Tables => continue,
            Order::ByTime { .. } | Order::Stretches { .. } if single => None,
            order @ (Order::ByTime { .. } | Order::Stretches { .. }) => Some(order),
            Order::Any | Order::PerContext | Order::PerExecutor | Order::Topological => None,
        };
        let visitor: &mut dyn Visitor = &mut **visitor;
        let contents = visitor.reads().in_order();
        let pass = (pass, many && !contents);
        match passes.iter_mut().find(|known| known.0 == pass) {
            Some(known) => known.1.push(visitor),
            None => passes.push((pass, vec![visitor])),
        }
    }
    let busy = AtomicUsize::new(passes.len());
    let done: Vec<Result<()>> = passes
        .into_par_iter()
        .map(|((order, _), mut visitors)| {
            let done = match order {
                None => topological(graph, &busy, &mut visitors),
                Some(order) => by_time(graph, order, &mut visitors),
            };
            busy.fetch_sub(1, Ordering::Relaxed);
            done?;
            visitors.iter_mut().for_each(|visitor| visitor.end());
            Ok(())
        })
        .collect();
    done.into_iter().collect()
}

/// The positions of contexts. Ids equal them, except in files that our writer did not write.
pub(super) fn positions(graph: &Graph) -> FxHashMap<ContextId, u32> {
    graph.contexts().map(|context| context.id).zip(0..).collect()
}

/// A pass in the order of the graph; `busy` passes go on at one time.
fn topological(graph: &Graph, busy: &AtomicUsize, visitors: &mut [&mut dyn Visitor]) -> Result<()> {
    let threads = rayon::current_num_threads();
    let positions = positions(graph);
    let any = |reads| visitors.iter().any(|visitor| visitor.reads() == reads);
    let synchronisation = visitors.iter().any(|visitor| visitor.synchronisation());
    let mut reading = Reading::new(graph, FRAMES, any, synchronisation);
    let by_executor = visitors.iter().any(|visitor| visitor.order() == Order::PerExecutor);
    let mut executors = by_executor.then(|| Executors::of(graph)).transpose()?;
    let mut tasks = graph.walk();
    while let Some(task) = tasks.next()? {
        let id = task.id();
        let context = positions.get(&id.context).copied().unwrap_or(0);
        for visitor in visitors.iter_mut() {
            visitor.task(context, task)?;
        }
        let counted = visitors.iter().any(|visitor| visitor.counts(task));
        reading.task(context, (task, counted), |first, batch| {
            let feed = |visitor: &mut &mut dyn Visitor| match visitor.reads().in_order() {
                true => visitor.batch(first, batch),
                false => Ok(()),
            };
            let many = || {
                let actions = batch.pieces().map(|piece| piece.actions());
                actions.fold(0, u64::saturating_add) >= MANY
            };
            if visitors.len() > 1 && busy.load(Ordering::Relaxed) < threads && many() {
                visitors.par_iter_mut().try_for_each(feed)
            } else {
                visitors.iter_mut().try_for_each(feed)
            }
        })?;
        for visitor in visitors.iter_mut() {
            visitor.done(context, task, &reading.counts)?;
        }
        let executor = task.executor().get();
        if executors.as_mut().is_some_and(|all| all.done(executor)) {
            let visitors =
                visitors.iter_mut().filter(|visitor| visitor.order() == Order::PerExecutor);
            visitors.for_each(|visitor| visitor.executor_ended(executor));
        }
        if task.is_last() {
            for visitor in visitors.iter_mut() {
                visitor.context_ended(context);
            }
        }
    }
    Ok(())
}
