//! Makes the rows of the account from the groups of waits.

use std::collections::BTreeMap;

use anyhow::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use taskgraph::{BlockId, ExecutorId, StaticInfo, SyncOp, TaskId};

use super::callers::{ABOVE, callers};
use super::contention::Atomics;
use super::estimate::{OP_NS, locking};
use super::grain::SOME;
use super::group::{Group, Key, Sample};
use super::locks::Known;
use super::loops::HANDS_OUT;
use super::measured::{Executed, Kernel, Measured};
use super::pop::Pop;
use super::predicted::{Lost, Predicted};
use super::site::{Arrival, Site, arrival, of_wait};
use super::wait::Kind;
use super::weights::{OfLibraries, Weights};
use super::{Account, Loss, Report, Row, Shard, sort};
use crate::analysis::source::{Place, shown};
use crate::analysis::{Graph, end_of};
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

/// A group with its place and code.
struct Placed {
    group: Group,
    site: Option<Site>,
    code: FxHashMap<BlockId, f64>,
    most: (f64, TaskId),
    /// The numbers of the groups that were merged.
    groups: Vec<u32>,
    /// Where others wait for a lock that those have who wait here.
    lock: Option<Place>,
    /// Whether who ends the waits comes to the same place as who waits.
    meets: bool,
}

impl Placed {
    /// Leaves out the time in which contexts were made, and returns it, ns.
    fn without(&mut self, made: &FxHashMap<u32, f64>) -> f64 {
        let made = self.groups.iter().filter_map(|group| made.get(group));
        let made = made.sum::<f64>().min(self.group.ns);
        self.group.ns -= made;
        if made > self.group.ns {
            self.groups.clear();
        }
        made
    }

    /// The line at which contexts wait.
    fn line(&self) -> Option<(String, u32)> {
        let site = self.site.as_ref()?;
        Some((site.place.file.clone(), site.place.line))
    }

    /// The kind of loss. `between` is how long (ns) contexts run between two waits at the barrier,
    /// if they are at one.
    fn loss(&self, between: f64) -> Loss {
        match self.meets {
            true if between < BETWEEN_NS => Loss::Barrier,
            true => Loss::Imbalance,
            false => self.group.loss(between),
        }
    }
}

pub(super) fn report(
    mut account: Account,
    graph: &Graph,
    mut shards: Vec<Shard>,
) -> Result<Report> {
    let groups = std::mem::take(&mut account.run.blame.groups);
    let keys: Vec<Key> = groups.iter().map(|group| group.key).collect();
    let (run, busiest) = (&account.run, busiest(&shards));
    let made = made(&shards);
    let mut atomics = Atomics::default();
    for shard in &mut shards {
        atomics.merge(std::mem::take(&mut shard.atomics));
    }
    let contended = atomics.contended(graph)?;
    let (groups, mut weights, measured) = measured(&account, graph, groups, shards)?;
    let contexts = run.strands.ids.len() as u64;
    let total = run.ns * f64::from(account.processors);
    let used = match run.too_long {
        true => total,
        false => run.blame.used,
    };
    let making = run.strands.making as f64;
    let ran = used - making;
    let small = small(contexts, ran);
    let recorded = weights.of_libraries(graph.info());
    let many = contexts >= SOME * u64::from(account.processors);
    let makers = makers(graph)?;
    let threads = makers.0 == Some(SyncOp::ThreadCreate);
    let handing_out = if small {
        contexts.saturating_sub(recorded.tasks) as f64 * TASK_NS + recorded.ns
    } else if many && threads {
        (contexts as f64 * THREAD_NS).min(ran / 2.0)
    } else {
        0.0
    };
    let (libraries, library) = std::mem::take(&mut weights.libraries);
    let handing_out = (handing_out + libraries).min(ran);
    let pieces = Pieces { small, many, used };
    let (handed_over, groups) = pieces.handed_over(&run.strands.known, groups);
    let (mut losses, lost) = pieces.losses(graph, groups, &made)?;
    losses.extend(row_of_handing_over(graph, &weights, &handed_over)?);
    let scheduling = making + handing_out + lost;
    if scheduling > 0.0 {
        let library = library.filter(|_| libraries > scheduling / 2.0);
        losses.push(Lost::new(row_of_making(graph, &weights, library, &makers)?, scheduling));
    }
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
        let others = contexts.saturating_sub(recorded.tasks) as f64;
        without_handing_out(&mut losses, &predicted, (others * each_ns, recorded), &weights);
    }
    let (handouts, handed_out) = weights.calls(graph.info(), HANDS_OUT);
    let mut losses: Vec<Row> = losses.into_iter().map(|lost| lost.row).collect();
    sort(&mut losses);
    let executed = (0..).map(BlockId::new).zip(weights.blocks.iter().copied());
    let times = executed.map(|(block, ops)| {
        let each = graph.info().block(block).map_or(1, |block| block.ir_ops.max(1));
        (block, ops / u64::from(each))
    });
    let mut report = Report {
        executed: times.collect(),
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
            graph.info(),
            (&contended, account.processors),
            graph.meta().processors > 0,
        ),
        copying: weights.copying(graph.info()),
        times: weights.times,
        measured,
    };
    // What costs time without any model is known already.
    report.estimate_known(graph.info());
    // The sample is of a part of the time.
    report.lasts(account.run.strands.longer());
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
    fn handed_over(&self, known: &Known, groups: Vec<Placed>) -> (Vec<Placed>, Vec<Placed>) {
        let at_queue = |placed: &Placed| match placed.group.key {
            Key::Wait(Kind::Lock, lock) => known.is_ordered(lock) || known.is_queue(lock),
            Key::Wait(Kind::Word, _) => placed.loss(self.used) == Loss::Producer,
            _ => false,
        };
        let (queues, others): (Vec<Placed>, Vec<Placed>) = groups.into_iter().partition(at_queue);
        let waits: u64 = queues.iter().map(|placed| placed.group.waits).sum();
        let small = waits >= MANY && self.used / (waits as f64) < WAKE_NS;
        match small && queues.iter().any(|placed| placed.group.key.is_signal()) {
            true => (queues, others),
            false => (Vec::new(), queues.into_iter().chain(others).collect()),
        }
    }

    /// The losses by cause and place, and what was lost to making and handing out the pieces, ns.
    fn losses(
        &self,
        graph: &Graph,
        groups: Vec<Placed>,
        made: &FxHashMap<u32, f64>,
    ) -> Result<(Vec<Lost>, f64)> {
        let barriers = barriers(&groups);
        let mut scheduling = 0.0;
        let mut rows: BTreeMap<(Loss, Option<Site>), Lost> = BTreeMap::new();
        for mut placed in groups {
            if self.many && placed.group.key == Key::Starting {
                scheduling += placed.group.ns;
                continue;
            }
            let all = placed.group.ns;
            if self.many {
                scheduling += placed.without(made);
            }
            let left = placed.group.ns / all.max(1.0);
            let at_barrier = barriers.get(&placed.line()).copied().unwrap_or(0);
            let loss = placed.loss(self.used / at_barrier.max(1) as f64);
            let of_tasks =
                matches!(loss, Loss::Imbalance | Loss::Barrier | Loss::Producer | Loss::Starting);
            // One context runs alone, piece by piece, if it cannot make the others or hand them out
            // in time.
            let alone = loss == Loss::Serial && placed.group.in_pieces * 3.0 > placed.group.ns;
            if self.small && (of_tasks || alone) {
                scheduling += placed.group.ns;
                continue;
            }
            let row = row(graph, &placed, loss)?;
            let known = rows
                .entry((loss, placed.site))
                .or_insert_with(|| Lost::new(Row { waits: 0, ..row }, 0.0));
            known.row.waits += placed.group.waits;
            known.ns += placed.group.ns;
            known.when.join(&placed.group.when, left);
            known.groups.extend(placed.groups);
            let lock = placed.group.behind.filter(|_| known.row.lock.is_some());
            known.lock = lock.map(|(_, lock)| lock).or(known.lock);
        }
        Ok((rows.into_values().collect(), scheduling))
    }
}

/// The part of each group's time in which contexts were made, ns.
fn made(shards: &[Shard]) -> FxHashMap<u32, f64> {
    let mut made: FxHashMap<u32, f64> = FxHashMap::default();
    for (&group, ns) in shards.iter().flat_map(|shard| &shard.making) {
        *made.entry(group).or_default() += ns;
    }
    made
}

/// The groups with their places, and the weights and the time in the kernel as they were measured.
fn measured(
    account: &Account,
    graph: &Graph,
    groups: Vec<Group>,
    mut shards: Vec<Shard>,
) -> Result<(Vec<Placed>, Weights, Option<Kernel>)> {
    let calls = |block| account.moves.calls(block);
    let mut executed = Executed::default();
    for shard in &mut shards {
        executed.merge(std::mem::take(&mut shard.executed));
    }
    let outside = |block| account.moves.outside(block);
    let mut measured = Measured::of(&account.stretches, &executed, outside);
    let ran_ns = match account.run.too_long {
        true => f64::INFINITY,
        false => account.run.blame.used,
    };
    let (groups, mut weights) = placed(graph, groups, shards, (measured.as_ref(), ran_ns))?;
    if let Some(measured) = &mut measured {
        weights.find_unrecorded(graph.info(), &account.moves, measured);
    }
    let kernel = measured.map(|measured| Kernel::of(&measured, graph.info(), calls));
    Ok((groups, weights, kernel))
}

/// The share of the busiest executor in the time for which all of them ran the program.
fn busiest(shards: &[Shard]) -> f64 {
    let mut ran: FxHashMap<ExecutorId, f64> = FxHashMap::default();
    for (&executor, ns) in shards.iter().flat_map(|shard| &shard.ran) {
        *ran.entry(executor).or_default() += ns;
    }
    let most = ran.values().copied().fold(0.0, f64::max);
    most / ran.values().sum::<f64>().max(1.0)
}

/// When the first context begins, ns.
fn begin_of(graph: &Graph) -> u64 {
    let contexts = graph.contexts().filter(|context| context.task_count > 0);
    let begins = contexts.map(|context| context.first_ns);
    begins.min().unwrap_or(0)
}

/// The rows with their shares of all processor time.
fn shares(mut losses: Vec<Lost>, total: f64) -> Vec<Lost> {
    for lost in &mut losses {
        (lost.row.ns, lost.row.share) = (whole(lost.ns), lost.ns / total.max(1.0));
        lost.row.when = lost.when.each();
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
    groups: Vec<Group>,
    shards: Vec<Shard>,
    (measured, ran_ns): (Option<&Measured>, f64),
) -> Result<(Vec<Placed>, Weights)> {
    let mut weights = Weights::default();
    let mut of_kinds: FxHashMap<(u32, u32), FxHashMap<BlockId, f64>> = FxHashMap::default();
    let mut begins = Vec::new();
    let mut most: FxHashMap<u32, (f64, TaskId)> = FxHashMap::default();
    for shard in shards {
        weights.merge(&shard.weights);
        begins.extend(shard.begins);
        for ((group, kind, block), ns) in shard.code {
            let own = of_kinds.entry((group, kind)).or_default();
            *own.entry(block).or_default() += ns;
        }
        for (group, (ns, task)) in shard.most {
            let found = most.entry(group).or_insert((ns, task));
            if ns > found.0 {
                *found = (ns, task);
            }
        }
    }
    let known: FxHashSet<u32> = of_kinds.keys().map(|(group, _)| *group).collect();
    for ((group, kind, block), ns) in begins {
        if !known.contains(&group) {
            let own = of_kinds.entry((group, kind)).or_default();
            *own.entry(block).or_default() += ns;
        }
    }
    weights.finish(graph.info());
    weights.measured(measured, ran_ns);
    if let Some(measured) = measured {
        // How long tasks take is known. Only what is within one kind of them is not.
        for code in of_kinds.values_mut() {
            measured.divide(code.iter_mut().map(|(block, ns)| (*block, ns)));
        }
    }
    let mut code: FxHashMap<u32, FxHashMap<BlockId, f64>> = FxHashMap::default();
    for ((group, _), own) in of_kinds {
        let code = code.entry(group).or_default();
        for (block, ns) in own {
            *code.entry(block).or_default() += ns;
        }
    }
    let mut placed: Vec<Placed> = Vec::new();
    for (at, mut group) in (0..).zip(groups) {
        group.shorten();
        placed.push(Placed {
            group,
            site: None,
            code: code.remove(&at).unwrap_or_default(),
            most: most.remove(&at).unwrap_or_default(),
            groups: vec![at],
            lock: None,
            meets: false,
        });
    }
    placed.sort_by(|a, b| b.group.ns.total_cmp(&a.group.ns));
    for placed in placed.iter_mut().take(PLACED) {
        placed.site = site(graph, &weights, &placed.group)?;
        placed.meets = meets(graph, &weights, &placed.group)?;
        placed.lock = held(graph, &weights, &placed.group)?;
    }
    Ok((merged(graph.info(), placed), weights))
}

/// Where others wait for a lock that those have who wait in a group, if that is a good part of what
/// is lost there.
fn held(graph: &Graph, weights: &Weights, group: &Group) -> Result<Option<Place>> {
    let behind = group.behind.filter(|_| group.holding * HOLDING > group.ns);
    let Some((behind, lock)) = behind else {
        return Ok(None);
    };
    Ok(of_wait(graph, weights, behind, Some(lock))?.map(|site| site.place))
}

/// Number of waits at each line with a barrier. Waits for others, and waits of contexts that had
/// nothing to do, are waits at one barrier if they are at the same line, whatever function the line
/// is in.
fn barriers(groups: &[Placed]) -> FxHashMap<Option<(String, u32)>, u64> {
    let mut barriers: FxHashMap<Option<(String, u32)>, u64> = FxHashMap::default();
    for placed in groups {
        if placed.meets || matches!(placed.group.key, Key::Wait(Kind::Barrier | Kind::Idle, _)) {
            *barriers.entry(placed.line()).or_default() += placed.group.waits;
        }
    }
    barriers
}

/// The row of what handing over pieces of work costs: where most of them are made, and where others
/// wait for them.
fn row_of_handing_over(
    graph: &Graph,
    weights: &Weights,
    queues: &[Placed],
) -> Result<Option<Lost>> {
    let signals = queues.iter().filter(|placed| placed.group.key.is_signal());
    let Some(most) = signals.max_by(|a, b| a.group.ns.total_cmp(&b.group.ns)) else {
        return Ok(None);
    };
    let mut makers: BTreeMap<Place, f64> = BTreeMap::new();
    for sample in &most.group.samples {
        let Some(by) = sample.ended_by else { continue };
        if let Some(made) = arrival(graph, weights, by, None)? {
            *makers.entry(made.site.place).or_default() += sample.ns;
        }
    }
    let maker = makers.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let row = Row {
        code: maker.map(|(place, _)| place),
        wait: most.site.as_ref().map(|site| site.place.clone()),
        inner: most.site.as_ref().and_then(|site| site.inner.clone()),
        waits: queues.iter().map(|placed| placed.group.waits).sum(),
        ..Row::of(Loss::Scheduling)
    };
    let mut lost = Lost::new(row, 0.0);
    for placed in queues {
        lost.ns += placed.group.ns;
        lost.when.join(&placed.group.when, 1.0);
        lost.groups.extend(&placed.groups);
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

/// Whether contexts are so small that their cost is mostly that of making and handing them out.
fn small(contexts: u64, ran: f64) -> bool {
    contexts >= MANY && ran / (contexts as f64) < SMALL_NS
}

/// Whether a group's waits are those at a barrier, whoever wrote it: who ends a wait for a signal
/// has come by the same call as who waits, or by the same acquire of a lock. Who makes something
/// for others, or passes on a turn, comes by another one.
fn meets(graph: &Graph, weights: &Weights, group: &Group) -> Result<bool> {
    if !group.key.is_signal() {
        return Ok(false);
    }
    let (mut same, mut all) = (0, 0);
    for sample in &group.samples {
        let Some(by) = sample.ended_by else { continue };
        let [own, other] = [sample.task, by].map(|task| arrival(graph, weights, task, None));
        all += 1;
        if let (Some(own), Some(other)) = (own?, other?) {
            let same_lock = own.acquired.is_some() && own.acquired == other.acquired;
            same += usize::from(own.site.place == other.site.place || same_lock);
        }
    }
    Ok(same * 2 > all)
}

/// The place with the costliest sampled waits of a group.
fn site(graph: &Graph, weights: &Weights, group: &Group) -> Result<Option<Site>> {
    let mut sums: FxHashMap<Site, f64> = FxHashMap::default();
    for &Sample { ns, task, .. } in &group.samples {
        if let Some(site) = of_wait(graph, weights, task, group.key.lock())? {
            *sums.entry(site).or_default() += ns;
        }
    }
    let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.place.cmp(&a.0.place)));
    Ok(most.map(|(site, _)| site))
}

/// Merges groups of one kind at one place, such as locks of parts of the data, or a semaphore for
/// each thread, and groups of signals that come from the same code.
fn merged(info: &StaticInfo, groups: Vec<Placed>) -> Vec<Placed> {
    let mut merged: Vec<Placed> = Vec::new();
    for placed in groups {
        let kind = |key: Key| match key {
            Key::Wait(kind, _) => Key::Wait(kind, 0),
            other => other,
        };
        let signal = placed.group.key.is_signal();
        let hot = |placed: &Placed| hottest(info, &placed.code).map(|(block, _)| block);
        let from = signal.then(|| hot(&placed)).flatten();
        let same = |other: &&mut Placed| {
            kind(other.group.key) == kind(placed.group.key)
                && (other.site == placed.site || from.is_some() && hot(other) == from)
        };
        match merged.iter_mut().find(same) {
            Some(other) => {
                other.group.add(placed.group);
                other.groups.extend(placed.groups);
                if placed.most.0 > other.most.0 {
                    other.most = placed.most;
                }
                for (block, ns) in placed.code {
                    *other.code.entry(block).or_default() += ns;
                }
            }
            None => merged.push(placed),
        }
    }
    merged
}

impl Group {
    /// The kind of loss. `between` is how long (ns) contexts run between two waits at the barrier,
    /// if the group is one.
    fn loss(&self, between: f64) -> Loss {
        match self.key {
            Key::Serial => Loss::Serial,
            Key::Imbalance => Loss::Imbalance,
            Key::Threads => Loss::Threads,
            Key::Starting => Loss::Starting,
            Key::Spinning => Loss::Spinning,
            Key::Wait(Kind::Lock, _) => Loss::Lock,
            Key::Wait(Kind::Turn, _) => Loss::Handover,
            Key::Wait(Kind::Word, _) if self.takes_turns() => Loss::Handover,
            Key::Wait(Kind::Word, _) if self.indirect * 2.0 > self.ns => Loss::Imbalance,
            Key::Wait(Kind::Word, _) => Loss::Producer,
            Key::Wait(Kind::Barrier | Kind::Idle, _) if between < BETWEEN_NS => Loss::Barrier,
            Key::Wait(Kind::Idle, _) => Loss::Serial,
            Key::Wait(Kind::Barrier | Kind::End, _) => Loss::Imbalance,
            Key::Wait(Kind::Message, _) => Loss::Message,
            Key::Wait(Kind::Startup, _) => Loss::Startup,
            Key::Wait(Kind::Outside, _) => Loss::Io,
            Key::Wait(Kind::Begin | Kind::Unknown | Kind::Recording, _) => Loss::Starting,
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
        Self {
            cause,
            ns: 0,
            share: 0.0,
            code: None,
            part: None,
            callee: None,
            callers: Vec::new(),
            wait: None,
            inner: None,
            lock: None,
            room: None,
            waits: 0,
            threads: false,
            operations: None,
            mended: Vec::new(),
            at_most: None,
            repeats: None,
            when: Vec::new(),
        }
    }
}

fn row(graph: &Graph, placed: &Placed, loss: Loss) -> Result<Row> {
    let info = graph.info();
    let hot = hottest(info, &placed.code);
    let callers = match hot {
        Some((block, _)) => callers(graph, placed.most.1, block)?,
        None => Vec::new(),
    };
    let site = placed.site.clone();
    let callee = site.as_ref().and_then(|site| site.callee.clone());
    Ok(Row {
        callee: callee.filter(|_| loss == Loss::Io),
        code: hot.map(|(block, _)| Place::of_block(info, block)),
        part: hot.map(|(_, part)| part),
        callers,
        wait: site.as_ref().map(|site| site.place.clone()),
        inner: site.and_then(|site| site.inner),
        lock: placed.lock.clone(),
        waits: placed.group.waits,
        ..Row::of(loss)
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
