//! Makes the rows of the account from the groups of waits.

use std::collections::BTreeMap;

use anyhow::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockId, ExecutorId, StaticInfo, SyncOp, TaskId};

use super::callers::callers;
use super::estimate::{OP_NS, locking};
use super::grain::SOME;
use super::group::{Group, Key, Sample};
use super::locks::Known;
use super::loops::HANDS_OUT;
use super::measured::{Kernel, Measured};
use super::pop::Pop;
use super::predicted::{Lost, Predicted};
use super::site::{Arrival, Site, arrival};
use super::sums::{Sums, add_all, largest};
use super::wait::Kind;
use super::weights::{OfLibraries, Weights};
use super::{Account, Loss, Report, Row, Run, Shard, binding, sort};
use crate::analysis::calls::ABOVE;
use crate::analysis::source::{Place, shown};
use crate::analysis::{Graph, begin_of, end_of};
use crate::view::units::whole;

/// Number of groups, the costliest, whose place is searched.
const PLACED: usize = 64;
/// Contexts that run for less than `SMALL_NS` on average are too small to hand out, if there are at
/// least `MANY`.
const SMALL_NS: f64 = 5000.0;
const MANY: u64 = 1000;
/// Time to make and hand out a task, ns (libomp, bench/scaling), and one of a library whose code is
/// recorded (`rayon::join`).
const TASK_NS: f64 = 200.0;
const LIBRARY_TASK_NS: f64 = 28.0;
/// Time that a thread takes of a parallel region beside its work, ns: until it is awake, and until
/// all have come to the end. (Two threads took 1.2 to 2.3 us, and four on two processors 40 us.)
const REGION_NS: f64 = 1500.0;
const CROWDED_REGION_NS: f64 = 20_000.0;
/// Time that it takes to wake a thread which waits for something, of both sides together, ns. If
/// there is less work for each such wait, handing the work over costs more than the work.
const WAKE_NS: f64 = 10_000.0;
/// What a thread takes by itself until it is at work, beside what its creator takes, ns: its first
/// use of its stack and of what its processor knows. (18,000 threads that ran for 25 us each did
/// what takes 15.)
const THREAD_NS: f64 = 10_000.0;
/// If there is less work between two waits at a barrier than this, ns, it is too little for the
/// barrier.
const BETWEEN_NS: f64 = 200_000.0;
/// If one part in so many of what is lost at a wait is lost by who waits for a lock meanwhile, the
/// lock is told.
const HOLDING: f64 = 5.0;

/// Number of contexts that are asked who created them, at least.
const SAMPLED: usize = 256;
/// Of those it is found out where.
const ARRIVALS: usize = 16;

pub(super) fn report(mut account: Account, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
    let groups = std::mem::take(&mut account.run.blame.groups);
    let keys: Vec<Key> = groups.iter().map(|group| group.key).collect();
    let mut found = Shard::default();
    shards.into_iter().for_each(|shard| found.merge(shard));
    let (info, run, moves) = (graph.info(), &account.run, &account.moves);
    let ran = || found.ran.values();
    let busiest = ran().copied().fold(0.0, f64::max) / ran().sum::<f64>().max(1.0);
    let contended = found.atomics.contended(graph)?;
    let mut measured =
        Measured::of(&account.stretches, &found.executed, |block| moves.outside(block));
    found.weights.finish(info);
    let ran_ns = if run.too_long { f64::INFINITY } else { run.blame.used };
    found.weights.measured(measured.as_ref(), ran_ns);
    let groups = placed(graph, groups, &mut found, measured.as_ref())?;
    let Shard { mut weights, making: made, .. } = found;
    if let Some(measured) = &mut measured {
        weights.find_unrecorded(info, moves, measured);
    }
    let measured = measured.map(|found| Kernel::of(&found, info, |block| moves.calls(block)));
    let contexts = run.strands.ids.len() as u64;
    let total = run.ns * f64::from(account.processors);
    let used = if run.too_long { total } else { run.blame.used };
    let making = run.strands.making as f64;
    let ran = used - making;
    let small = contexts >= MANY && ran / (contexts as f64) < SMALL_NS;
    let recorded = weights.of_libraries(info);
    let many = contexts >= SOME * u64::from(account.processors);
    let makers = makers(graph)?;
    let threads = makers.0 == Some(SyncOp::ThreadCreate);
    let others = contexts.saturating_sub(recorded.tasks) as f64;
    let handing_out = if small {
        others * TASK_NS + recorded.ns
    } else if many && threads {
        (contexts as f64 * THREAD_NS).min(ran / 2.0)
    } else {
        0.0
    };
    let libraries = std::mem::take(&mut weights.libraries);
    let handing_out = (handing_out + libraries.ns).min(ran);
    let pieces = Pieces { small, many, used };
    let (handed_over, groups) = pieces.handed_over(&run.strands.known, groups);
    let (mut losses, lost) = pieces.losses(graph, groups, &made)?;
    losses.extend(row_of_handing_over(graph, &weights, &handed_over)?);
    let scheduling = making + handing_out + lost;
    if scheduling > 0.0 {
        let library = libraries.place.filter(|_| libraries.ns > scheduling / 2.0);
        losses.push(Lost::new(row_of_making(graph, &weights, library, &makers)?, scheduling));
    }
    losses.extend(bound(&account, info));
    let mut losses = shares(losses, total);
    let predicted = Predicted::of(&account, &keys, &mut losses);
    if small {
        let threads: FxHashSet<ExecutorId> = run.strands.executors.iter().copied().collect();
        let crowded = threads.len() > account.processors as usize;
        let each_ns = match makers.0 {
            Some(SyncOp::ParallelBegin) if crowded => CROWDED_REGION_NS,
            Some(SyncOp::ParallelBegin) => REGION_NS,
            _ => TASK_NS,
        };
        without_handing_out(&mut losses, &predicted, (others * each_ns, recorded), &weights);
    }
    let (handouts, handed_out) = weights.calls(info, HANDS_OUT);
    let mut losses: Vec<Row> = losses.into_iter().map(|lost| lost.row).collect();
    sort(&mut losses);
    let mut report = Report {
        executed: weights.executed(info),
        processors: account.processors,
        recorded: account.recorded,
        duration_ns: end_of(graph).saturating_sub(begin_of(graph)),
        replayed_ns: whole(run.ns),
        total_ns: whole(total),
        recording_ns: run.strands.recording * u64::from(account.processors),
        useful_ns: whole(ran - handing_out),
        outside_ns: run.strands.outside,
        unrecorded: weights.unrecorded.take(),
        losses,
        grain: None,
        pop: Pop::of(run, account.processors, ran - handing_out, busiest),
        predicted,
        contexts,
        ir_ops: weights.total(),
        handouts,
        handed_out,
        locking: locking(
            &weights,
            info,
            (&contended, account.processors),
            graph.meta().processors > 0,
        ),
        copying: weights.copying(info),
        times: weights.times(),
        measured,
    };
    // What costs time without any model is known already.
    report.estimate_known(info);
    // The sample is of a part of the time.
    report.lasts(run.strands.longer());
    Ok(report)
}

/// What the pieces of work are like.
struct Pieces {
    /// Whether they are so small that their cost is mostly that of handing them out.
    small: bool,
    /// Whether they are so many that making them may be what the run is slow by.
    many: bool,
    /// Processor time in which contexts ran, ns.
    used: f64,
}

impl Pieces {
    /// The groups of waits for what others put into queues, and for the locks of these, apart from
    /// all others, if there is very little work for each of them. Handing it over costs more then
    /// than the work.
    fn handed_over(&self, known: &Known, groups: Vec<Group>) -> (Vec<Group>, Vec<Group>) {
        let at_queue = |group: &Group| match group.key {
            (Kind::Lock, lock) => known.is_ordered(lock) || known.is_queue(lock),
            (Kind::Word, _) => group.loss(self.used) == Loss::Producer,
            _ => false,
        };
        let (queues, others): (Vec<Group>, Vec<Group>) = groups.into_iter().partition(at_queue);
        let waits: u64 = queues.iter().map(|group| group.waits).sum();
        let small = waits >= MANY && self.used / (waits as f64) < WAKE_NS;
        match small && queues.iter().any(|group| group.key.0 == Kind::Word) {
            true => (queues, others),
            false => (Vec::new(), queues.into_iter().chain(others).collect()),
        }
    }

    /// The losses by cause and place, and what was lost to making and handing out the pieces, ns.
    fn losses(
        &self,
        graph: &Graph,
        groups: Vec<Group>,
        made: &Sums<u32>,
    ) -> Result<(Vec<Lost>, f64)> {
        let barriers = barriers(&groups);
        let mut scheduling = 0.0;
        let mut rows: BTreeMap<(Loss, Option<Site>), Lost> = BTreeMap::new();
        for mut group in groups {
            if self.many && group.key.0 == Kind::Begin {
                scheduling += group.ns;
                continue;
            }
            let all = group.ns;
            if self.many {
                // The time in which contexts were made.
                let made = group.groups.iter().filter_map(|group| made.get(group));
                let made = made.sum::<f64>().min(all);
                scheduling += made;
                group.ns -= made;
                if made > group.ns {
                    group.groups.clear();
                }
            }
            let left = group.ns / all.max(1.0);
            let at_barrier = barriers.get(&group.line()).copied().unwrap_or(0);
            let loss = group.loss(self.used / at_barrier.max(1) as f64);
            let of_tasks =
                matches!(loss, Loss::Imbalance | Loss::Barrier | Loss::Producer | Loss::Starting);
            // One context runs alone, piece by piece, if it cannot make the others or hand them out
            // in time.
            let alone = loss == Loss::Serial && group.in_pieces * 3.0 > group.ns;
            if self.small && (of_tasks || alone) {
                scheduling += group.ns;
                continue;
            }
            let row = row(graph, &group, loss)?;
            let known = rows
                .entry((loss, group.site))
                .or_insert_with(|| Lost::new(Row { waits: 0, ..row }, 0.0));
            known.row.waits += group.waits;
            known.ns += group.ns;
            group.when.add_to(&mut known.row.when, left);
            known.groups.extend(group.groups);
            let lock = group.behind.filter(|_| known.row.lock.is_some());
            known.lock = lock.map(|(_, lock)| lock).or(known.lock);
        }
        Ok((rows.into_values().collect(), scheduling))
    }
}

/// The processors on which no thread of the program ran, because it binds them.
fn bound(account: &Account, info: &StaticInfo) -> Option<Lost> {
    let Run { kept_to, unbound, ns, .. } = account.run;
    let ns = f64::from(account.processors.checked_sub(kept_to).filter(|&of| of > 0)?) * ns;
    let mended = if account.on.is_empty() { vec![unbound] } else { Vec::new() };
    Some(Lost::new(Row { code: binding(info), mended, ..Row::of(Loss::Bound) }, ns))
}

/// The rows with their shares of all processor time.
fn shares(mut losses: Vec<Lost>, total: f64) -> Vec<Lost> {
    for lost in &mut losses {
        (lost.row.ns, lost.row.share) = (whole(lost.ns), lost.ns / total.max(1.0));
    }
    losses.retain(|lost| lost.row.ns > 0);
    losses.sort_by(|a, b| {
        let given = a.row.cause.is_given().cmp(&b.row.cause.is_given());
        given.then(b.row.ns.cmp(&a.row.ns))
    });
    losses
}

/// What a run gains that hands out no contexts. Recording makes them many times as slow as they
/// are, and their work is little, so the recorded times say nothing of it.
fn without_handing_out(
    losses: &mut [Lost],
    predicted: &Predicted,
    (others_ns, recorded): (f64, OfLibraries),
    weights: &Weights,
) {
    let handing_out = others_ns + recorded.tasks as f64 * LIBRARY_TASK_NS;
    let own = weights.total().saturating_sub(recorded.ops) as f64 * OP_NS;
    let share = handing_out / (handing_out + own);
    let scheduling = |lost: &&mut Lost| lost.row.cause == Loss::Scheduling;
    for lost in losses.iter_mut().filter(scheduling) {
        lost.row.mended = Row::scaled(&predicted.greedy, share);
    }
}

/// The groups, of which the costliest have their place, and groups at the same place are merged.
fn placed(
    graph: &Graph,
    mut groups: Vec<Group>,
    found: &mut Shard,
    measured: Option<&Measured>,
) -> Result<Vec<Group>> {
    let mut of_kinds = std::mem::take(&mut found.code);
    // How code begins counts where no more is known of what a group waits for.
    let known: FxHashSet<u32> = of_kinds.keys().map(|(group, _)| *group).collect();
    let begins = std::mem::take(&mut found.begins).into_iter();
    of_kinds.extend(begins.filter(|((group, _), _)| !known.contains(group)));
    for ((group, _), mut code) in of_kinds {
        // How long tasks take is known. Only what is within one kind of them is not.
        if let Some(measured) = measured {
            measured.divide(code.iter_mut().map(|(block, ns)| (*block, ns)));
        }
        add_all(&mut groups[group as usize].code, code);
    }
    for (at, group) in (0..).zip(&mut groups) {
        group.shorten();
        group.most = found.most.remove(&at).unwrap_or_default();
    }
    groups.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    for group in groups.iter_mut().take(PLACED) {
        group.find_place(graph, &found.weights)?;
    }
    Ok(merged(graph.info(), groups))
}

/// Number of waits at each line with a barrier. Waits for others, and waits of contexts that had
/// nothing to do, are waits at one barrier if they are at the same line, whatever function the line
/// is in.
fn barriers(groups: &[Group]) -> FxHashMap<Option<(String, u32)>, u64> {
    let mut barriers: FxHashMap<Option<(String, u32)>, u64> = FxHashMap::default();
    for group in groups {
        if group.meets || matches!(group.key.0, Kind::Barrier | Kind::Idle) {
            *barriers.entry(group.line()).or_default() += group.waits;
        }
    }
    barriers
}

/// The row of what handing over pieces of work costs: where most of them are made, and where others
/// wait for them.
fn row_of_handing_over(graph: &Graph, weights: &Weights, queues: &[Group]) -> Result<Option<Lost>> {
    let signals = queues.iter().filter(|group| group.key.0 == Kind::Word);
    let Some(most) = signals.max_by(|a, b| a.ns.total_cmp(&b.ns)) else {
        return Ok(None);
    };
    let mut makers: Sums<Place> = FxHashMap::default();
    for sample in &most.samples {
        let Some(by) = sample.ended_by else { continue };
        if let Some(made) = arrival(graph, weights, by, None)? {
            *makers.entry(made.site.place).or_default() += sample.ns;
        }
    }
    let row = Row {
        code: largest(makers),
        waits: queues.iter().map(|group| group.waits).sum(),
        ..Row::at(Loss::Scheduling, most.site.as_ref())
    };
    let mut lost = Lost::new(row, 0.0);
    for group in queues {
        lost.ns += group.ns;
        group.when.add_to(&mut lost.row.when, 1.0);
        lost.groups.extend(&group.groups);
    }
    Ok(Some(lost))
}

/// The row of what making contexts costs: at this call of a library, or else where most contexts
/// are made.
fn row_of_making(
    graph: &Graph,
    weights: &Weights,
    library: Option<Place>,
    (op, makers): &(Option<SyncOp>, Vec<TaskId>),
) -> Result<Row> {
    let mut row = Row::of(Loss::Scheduling);
    if library.is_some() {
        row.code = library;
    } else {
        row.threads = *op == Some(SyncOp::ThreadCreate);
        if let Some(made) = making(graph, weights, makers)? {
            (row.code, row.callers) = (Some(made.site.place), made.callers);
            row.callers.truncate(ABOVE);
        }
    }
    Ok(row)
}

/// How most of these tasks that create contexts come to do so.
fn making(graph: &Graph, weights: &Weights, makers: &[TaskId]) -> Result<Option<Arrival>> {
    let mut made: Vec<(usize, Arrival)> = Vec::new();
    for &task in makers.iter().step_by(makers.len() / ARRIVALS + 1) {
        let Some(arrival) = arrival(graph, weights, task, None)? else {
            continue;
        };
        match made.iter_mut().find(|(_, one)| one.site == arrival.site) {
            Some((number, _)) => *number += 1,
            None => made.push((1, arrival)),
        }
    }
    // The first one of those that are equal.
    let most = made.into_iter().rev().max_by_key(|(number, _)| *number);
    Ok(most.map(|(_, arrival)| arrival))
}

/// The operation that creates most contexts, and some of the tasks that do so.
fn makers(graph: &Graph) -> Result<(Option<SyncOp>, Vec<TaskId>)> {
    let creators: Vec<TaskId> = graph.contexts().filter_map(|context| context.creator).collect();
    let mut operations: BTreeMap<SyncOp, Vec<TaskId>> = BTreeMap::new();
    for &creator in creators.iter().step_by(creators.len() / SAMPLED + 1) {
        let op = graph.task(creator)?.op();
        operations.entry(op).or_default().push(creator);
    }
    let most = operations.into_iter().max_by_key(|(_, tasks)| tasks.len());
    Ok(most.map_or((None, Vec::new()), |(op, tasks)| (Some(op), tasks)))
}

/// Merges groups of one kind at one place, such as locks of parts of the data, or a semaphore for
/// each thread, and groups of signals that come from the same code.
fn merged(info: &StaticInfo, groups: Vec<Group>) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        let hot = |group: &Group| hottest(info, &group.code).map(|(block, _)| block);
        let from = if group.key.0 == Kind::Word { hot(&group) } else { None };
        let same = |other: &&mut Group| {
            other.key.0 == group.key.0
                && (other.site == group.site || from.is_some() && hot(other) == from)
        };
        match merged.iter_mut().find(same) {
            Some(other) => other.add(group),
            None => merged.push(group),
        }
    }
    merged
}

impl Group {
    /// Finds the place with the costliest sampled waits, where others wait for a lock that those
    /// have who wait here, if that is a good part of what is lost, and whether the waits are those
    /// at a barrier, whoever wrote it: who ends a wait for a signal has come by the same call as
    /// who waits, or by the same acquire of a lock. Who makes something for others, or passes on a
    /// turn, comes by another one.
    fn find_place(&mut self, graph: &Graph, weights: &Weights) -> Result<()> {
        let (kind, object) = self.key;
        let lock = (kind == Kind::Lock).then_some(object);
        let mut sites: Sums<Site> = FxHashMap::default();
        let (mut same, mut all) = (0, 0);
        for &Sample { ns, task, ended_by } in &self.samples {
            let own = arrival(graph, weights, task, lock)?;
            if let Some(by) = ended_by.filter(|_| kind == Kind::Word) {
                all += 1;
                if let (Some(own), Some(other)) = (&own, arrival(graph, weights, by, None)?) {
                    let same_lock = own.acquired.is_some() && own.acquired == other.acquired;
                    same += usize::from(own.site.place == other.site.place || same_lock);
                }
            }
            add_all(&mut sites, own.map(|own| (own.site, ns)));
        }
        (self.site, self.meets) = (largest(sites), same * 2 > all);
        let behind = self.behind.filter(|_| self.holding * HOLDING > self.ns);
        if let Some((behind, lock)) = behind {
            let held = arrival(graph, weights, behind, Some(lock))?;
            self.lock = held.map(|held| held.site.place);
        }
        Ok(())
    }

    /// The line at which contexts wait.
    fn line(&self) -> Option<(String, u32)> {
        let place = &self.site.as_ref()?.place;
        Some((place.file.clone(), place.line))
    }

    /// The kind of loss. `between` is how long (ns) contexts run between two waits at the barrier,
    /// if they are at one.
    fn loss(&self, between: f64) -> Loss {
        match self.key.0 {
            Kind::Word | Kind::Barrier | Kind::Idle
                if (self.meets || self.key.0 != Kind::Word) && between < BETWEEN_NS =>
            {
                Loss::Barrier
            }
            Kind::Word if self.meets => Loss::Imbalance,
            Kind::Word if self.takes_turns() => Loss::Handover,
            Kind::Word if self.indirect * 2.0 > self.ns => Loss::Imbalance,
            Kind::Word => Loss::Producer,
            Kind::Turn => Loss::Handover,
            Kind::Lock => Loss::Lock,
            Kind::Serial | Kind::Idle => Loss::Serial,
            Kind::Share | Kind::Barrier | Kind::End => Loss::Imbalance,
            Kind::Threads => Loss::Threads,
            Kind::Message => Loss::Message,
            Kind::Startup => Loss::Startup,
            Kind::Outside => Loss::Io,
            Kind::Begin | Kind::Unknown => Loss::Starting,
            Kind::Spinning => Loss::Spinning,
        }
    }
}

impl Report {
    /// Makes all times so many times as long.
    fn lasts(&mut self, times: f64) {
        let all =
            [&mut self.replayed_ns, &mut self.total_ns, &mut self.useful_ns, &mut self.outside_ns];
        let unrecorded = self.unrecorded.as_mut().map(|one| &mut one.ns);
        let losses = self.losses.iter_mut().map(|row| &mut row.ns);
        for ns in all.into_iter().chain(unrecorded).chain(losses) {
            *ns = whole(*ns as f64 * times);
        }
    }
}

impl Row {
    pub(super) fn of(cause: Loss) -> Self {
        Self { cause, ..Self::default() }
    }

    /// A loss of contexts that wait there.
    fn at(cause: Loss, site: Option<&Site>) -> Self {
        Self {
            wait: site.map(|site| site.place.clone()),
            inner: site.and_then(|site| site.inner.clone()),
            ..Self::of(cause)
        }
    }
}

fn row(graph: &Graph, group: &Group, loss: Loss) -> Result<Row> {
    let info = graph.info();
    let hot = hottest(info, &group.code);
    let callers = match hot {
        Some((block, _)) => callers(graph, group.most.1, block)?,
        None => Vec::new(),
    };
    let callee = group.site.as_ref().and_then(|site| site.callee.clone());
    Ok(Row {
        callee: callee.filter(|_| loss == Loss::Io),
        code: hot.map(|(block, _)| Place::of_block(info, block)),
        part: hot.map(|(_, part)| part),
        callers,
        lock: group.lock.clone(),
        waits: group.waits,
        ..Row::at(loss, group.site.as_ref())
    })
}

/// The block with the most time of the function with the most time, and the function's share of
/// all. A function that the compiler inlined counts as one.
fn hottest(info: &StaticInfo, code: &FxHashMap<BlockId, f64>) -> Option<(BlockId, f64)> {
    let mut functions: FxHashMap<(&str, &str), (f64, f64, BlockId)> = FxHashMap::default();
    let mut blocks: Vec<(BlockId, f64)> = code.iter().map(|(&block, &ns)| (block, ns)).collect();
    blocks.sort_unstable_by_key(|&(block, _)| block);
    for (block, ns) in blocks {
        let about = info.block(block)?;
        let frame = shown(info, about.function, about.line, about.inlined);
        let function = functions.entry((frame.function, frame.file));
        let (all, most, of) = function.or_insert((0.0, ns, block));
        *all += ns;
        if ns > *most {
            (*most, *of) = (ns, block);
        }
    }
    let most = functions.into_values().max_by(|a, b| a.0.total_cmp(&b.0).then(b.2.cmp(&a.2)))?;
    Some((most.2, most.0 / code.values().sum::<f64>().max(1.0)))
}
