//! `account`: where the time of the processors went, and what it was lost to, by cause and place.
//!
//! The run is replayed on as many processors as the program could use, which nobody else uses: each
//! context takes the time of its own work, and waits for what it waited for in the recorded run.
//! So what other programs took of the processors is no loss. The total is the number of processors
//! times the length of the replay. Running contexts use a part of it. At each moment the rest is
//! charged to what the waiting contexts wait for, and there to the code that the awaited context
//! executes at the time. A recorded run is slower than a native one, so shares are comparable and
//! times are not.
//!
//! The files, in the order in which an account is made:
//!
//! 1. `strands`: what each context does and waits for (`wait`). `walk` reads it from the tasks, with
//!    what the kernel said of their time (`stretches`). Where the recorded order is more than the
//!    program asks for, it is given up: of locks (`locks`, `looks`), of jobs that are taken from
//!    queues (`sections`, `queues`, `counted`), and of pieces of loops (`loops`).
//! 2. `replay` goes through the strands. `blame` watches it: it finds the cause of each idle moment,
//!    adds up what each cause costs (`group`), and charges it to strands.
//! 3. One pass over all tasks ([`Shard`]) finds the code of what strands are charged with, how much
//!    of each code was executed (`weights`), how long it takes (`measured`, `explain`), and who
//!    changes the same variables (`contention`).
//! 4. `rows` joins groups of one cause and place (`site`, `callers`), and replays without each of
//!    them tell what that would bring (`predicted`).
//! 5. `estimate` says what code costs while it runs: known calls, and what models of memory say.
//! 6. `render`, `repeats`, `pop` and `grain` put it into words.

mod blame;
mod callers;
mod contention;
mod counted;
mod estimate;
mod explain;
mod grain;
mod group;
mod locks;
mod looks;
mod loops;
mod loss;
mod measured;
mod pop;
mod predicted;
mod queues;
mod render;
mod repeats;
mod replay;
mod rows;
mod sections;
mod site;
mod strands;
mod stretches;
mod sums;
mod wait;
mod walk;
mod weights;

use anyhow::Result;
use rustc_hash::FxHashMap;
use serde::Serialize;
use taskgraph::{Block, BlockCounts, BlockId, ExecutorId, StaticInfo, TaskId, TaskKind};
use tracing::debug_span;

use crate::analysis::source::Place;
use crate::analysis::{
    Analysis, Graph, LongCall, Order, Part, Reads, State, Task, Windows, accesses_of, begin_of,
    count_spans, default_config, end_of, long_call, run_all, state_in,
};
use crate::cache::Sample;
use crate::memuse::{self, MemUse};
use crate::misses::{self, Misses};
use crate::parallelism::timeline::Timeline;
use crate::sharing::{self, Sharing};
use blame::{Blame, Sweep};
use contention::Atomics;
use estimate::Locking;
use measured::{Executed, Kernel, kind};
use replay::{LATE, Nobody, Removable, SPINNING, Schedule, Watch, replay};
use strands::{Strands, index};
use stretches::Stretches;
use sums::{Spent, Sums, add_all};
use walk::strands_of;
use weights::{Moves, Weights, callee};

pub use grain::Grain;
pub use loss::Loss;
pub use pop::Pop;
pub use predicted::Predicted;
pub use repeats::{Repeats, agreement};

/// The models that say why code is slow look at so many accesses to lines. Of a longer run they
/// look at a part.
const LOOKED_UP: u64 = 1 << 23;

/// Spinning is a loss if the run takes so many times as long as if nobody spun.
const SPINNING_COSTS: f64 = 1.1;
/// Threads keep to some processors if the run on these takes so many times as long as on all.
const BOUND: f64 = 1.1;
/// Functions that bind threads to processors.
const BINDS: [&str; 3] = ["pthread_setaffinity_np", "sched_setaffinity", "hwloc_set_"];
/// A loss brings as much as another one if it gains this part of it, and is some of the time if it
/// has this share.
const AS_MUCH: f64 = 0.75;
const SOME_SHARE: f64 = 0.1;

/// Options of `account`.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Processors the program could use [default: as recorded]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub processors: Option<u32>,
}

/// The analysis: the blame is computed first, and its code is found task by task.
#[derive(Debug)]
pub struct Account {
    processors: u32,
    recorded: bool,
    moves: Moves,
    stretches: Stretches,
    /// The numbers of processors that the run is predicted for; without any, that of the run.
    on: Vec<u32>,
    run: Run,
}

/// The replayed run.
#[derive(Debug, Default)]
struct Run {
    strands: Strands,
    /// Length of the replay, ns.
    ns: f64,
    /// Length of a replay in which contexts go on at once when what they wait for is done, ns.
    ideal_ns: f64,
    /// Number of processors that its threads kept to, and how many times as fast the replay is on
    /// all.
    kept_to: u32,
    unbound: f64,
    blame: Blame,
    /// Whether the run has too many strands to be replayed.
    too_long: bool,
}

#[derive(Debug, Default)]
pub struct Shard {
    /// Time by group and kind of task ([`measured::kind`]), and by block, ns.
    code: FxHashMap<(u32, u32), Sums<BlockId>>,
    /// The same of tasks of which a sample of the code has only how they begin.
    begins: FxHashMap<(u32, u32), Sums<BlockId>>,
    /// For each group, the task with the most of its time.
    most: FxHashMap<u32, (f64, TaskId)>,
    /// For each group, its time in which contexts were made, ns.
    making: Sums<u32>,
    weights: Weights,
    executed: Executed,
    /// How long each executor ran the program, ns.
    ran: Sums<ExecutorId>,
    atomics: Atomics,
}

/// Where the processors' time went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Number of processors that the program could use.
    pub processors: u32,
    /// Whether that number is recorded or given; otherwise it is the largest number of contexts
    /// that ran at one time.
    pub recorded: bool,
    /// Length of the recorded run.
    pub duration_ns: u64,
    /// Length of the run on processors that nobody else uses.
    pub replayed_ns: u64,
    /// Processor time: the processors times `replayed_ns`.
    pub total_ns: u64,
    /// Processor time in which the recording had paused the program; it is not part of `total_ns`.
    pub recording_ns: u64,
    /// Processor time in which contexts ran, less what is estimated to be lost in it.
    pub useful_ns: u64,
    /// The part of `useful_ns` in calls of code that was not recorded.
    #[serde(skip)]
    pub outside_ns: u64,
    /// The part of `useful_ns` in code that was not recorded, where that was measured.
    pub unrecorded: Option<Unrecorded>,
    /// What the rest was lost to, the largest loss first.
    pub losses: Vec<Row>,
    /// The same in the words of POP; `None` where nothing ran.
    pub pop: Option<Pop>,
    /// How large the pieces of work are, if they are many.
    pub grain: Option<Grain>,
    /// How much faster the run would be on other processors.
    pub predicted: Predicted,
    /// Number of contexts of the run.
    pub contexts: u64,
    /// Number of executed IR instructions, with those that copies and fills take the time of.
    #[serde(skip)]
    pub ir_ops: u64,
    /// Time of the tasks by block, ns: that of a task is divided in proportion to the instructions
    /// it executed.
    #[serde(skip)]
    pub times: Vec<f64>,
    /// Number of pieces of loops that threads asked the OpenMP runtime for, and where they asked
    /// most often.
    #[serde(skip)]
    handouts: u64,
    #[serde(skip)]
    handed_out: Option<Place>,
    /// What operations of locks and atomic variables take by themselves.
    #[serde(skip)]
    locking: Locking,
    /// The time of copies of memory.
    #[serde(skip)]
    copying: Spent,
    /// What was measured of the code.
    #[serde(skip)]
    measured: Option<Kernel>,
    /// How often blocks were executed.
    #[serde(skip)]
    executed: Vec<(BlockId, u64)>,
}

/// Time in code that was not recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unrecorded {
    pub ns: u64,
    /// The call that takes most of it, and the function that is called.
    pub code: Place,
    pub callee: String,
}

/// A loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Row {
    pub cause: Loss,
    /// Lost processor time.
    pub ns: u64,
    /// The loss as a share of all processor time.
    pub share: f64,
    /// The code that other contexts waited for, or that costs the time itself.
    pub code: Option<Place>,
    /// The share of the loss that the function of that code has, if it is known.
    #[serde(skip)]
    pub part: Option<f64>,
    /// The function that the code calls, where the time is spent in that, or the one in which
    /// contexts sleep, read or write.
    pub callee: Option<String>,
    /// The calls that led to that code's function, the innermost first, as far as they were seen.
    pub callers: Vec<Place>,
    /// Where the contexts waited.
    pub wait: Option<Place>,
    /// Where in the function called at `wait` the contexts waited, if that function is only a
    /// wrapper.
    pub inner: Option<Place>,
    /// Where others wait for a lock that the contexts have which wait at `wait`, if that is much of
    /// the loss.
    pub lock: Option<Place>,
    /// The number of places of the queue in which the contexts wait for room, if more places would
    /// help most.
    pub room: Option<u64>,
    /// Number of waits.
    pub waits: u64,
    /// Whether the pieces that [`Loss::Scheduling`] is about are threads of their own.
    pub threads: bool,
    /// What of the loss is the cost of operations, where contexts wait for what these are done with.
    #[serde(skip)]
    pub operations: Option<Operations>,
    /// How many times as fast the run would be without this loss, for each number of processors of
    /// [`Predicted::processors`]. With a `room` the queue has places without end, and with a `lock`
    /// nobody waits for it.
    pub mended: Vec<f64>,
    /// How many times as fast the run may be at most without this loss on its own processors, where
    /// `mended` is an estimate.
    pub at_most: Option<f64>,
    /// The same for the run's own processors in several runs, if there were several.
    pub repeats: Option<Repeats>,
    /// Lost processor time (ns) in each of 64 equal stretches of the run; empty if it is not known
    /// when it was lost.
    #[serde(skip)]
    pub when: Vec<f64>,
}

/// What operations of locks cost, as a part of a [`Row`].
#[derive(Clone, Debug, PartialEq)]
pub struct Operations {
    /// Processor time.
    pub ns: u64,
    /// The same as a share of all processor time.
    pub share: f64,
    /// What the run gains without the waits, and with the operations.
    pub mended: Vec<f64>,
}

impl Account {
    /// The account with predictions for these numbers of processors.
    #[must_use]
    pub fn on(self, on: Vec<u32>) -> Self {
        Self { on, ..self }
    }
}

impl Analysis for Account {
    const NAME: &'static str = "account";
    const ABOUT: &'static str =
        "Where the processors' time went: what it was lost to, by cause and place";
    const ORDER: Order = Order::Any;
    const READS: Reads = Reads::Counts;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let known = Some(graph.meta().processors).filter(|&processors| processors > 0);
        let given = options.processors.or(known);
        let processors = match given {
            Some(processors) => processors,
            // The file of an old version does not say it.
            None => Timeline::of(graph)?.peak(),
        };
        Ok(Self {
            processors: processors.max(1),
            recorded: given.is_some(),
            moves: Moves::of(graph.info()),
            stretches: Stretches::of(graph)?,
            run: Run::default(),
            on: Vec::new(),
        })
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        self.run = Run::of(graph, self.processors, &self.stretches)?;
        Ok(())
    }

    fn shard(&self) -> Shard {
        Shard::default()
    }

    fn counts(&self, task: &Task<'_>) -> bool {
        self.stretches.is_simple(task)
    }

    fn done(&self, shard: &mut Shard, task: &Task<'_>, counts: &BlockCounts) -> Result<()> {
        if task.kind() != TaskKind::Work {
            let stretch = self.stretches.whole(task).stretch;
            shard.executed.add_operation(stretch, task.duration_ns());
        }
        let parts = self.stretches.parts(task)?;
        let mut all = BlockCounts::new();
        for (block, times) in parts.iter().flat_map(|part| &part.1) {
            all.add(*block, *times);
        }
        // Of code that a sample lacks altogether, how it begins is all that is known.
        let missing = !task.has_all_code() && all.iter().next().is_none();
        if missing {
            all = count_spans(task, task.spans())?;
        }
        let counts = if parts.is_empty() { counts } else { &all };
        let atomic = counts.iter().filter(|one| self.moves.is_atomic(one.0));
        atomic.for_each(|(block, times)| shard.atomics.add(task, block, times));
        let work = self.moves.work(task, counts);
        // A task that spends its time in a call of code that was not recorded spends it at that
        // call.
        let call = long_call(task);
        let spread = task.kind() == TaskKind::Work && call.is_none();
        let ns = if spread { task.duration_ns() } else { 0 };
        let runs = state_in(task, call) == State::Running;
        if parts.is_empty() {
            let blocks = counts.iter().map(|one| work.weight(one));
            let whole = self.stretches.whole(task);
            shard.executed.add(whole, spread && runs, blocks);
        }
        for (part, counts) in &parts {
            let blocks = counts.iter().map(|one| work.weight(*one));
            shard.executed.add(*part, spread && runs, blocks);
        }
        match missing {
            true => shard.weights.leave_out(ns),
            false => shard.weights.add(&work, ns),
        }
        if let Some(LongCall::Works(block)) = call {
            shard.weights.spend(block, task.duration_ns());
        }
        if !runs {
            return Ok(());
        }
        let all = work.all();
        let kind = kind(counts.iter().map(|(block, _)| block));
        let Run { strands, blame, .. } = &self.run;
        for strand in strands.strands_of(task.id()) {
            let strand_ns = strands.all[strand].ns.max(1);
            if !strands.all[strand].sleeps {
                let ran = shard.ran.entry(task.executor()).or_default();
                *ran += task.duration_ns().min(strand_ns) as f64;
            }
            let part = task.duration_ns().min(strand_ns) as f64 / strand_ns as f64;
            for (&(_, group), ns) in blame.charges.range((strand, 0)..=(strand, u32::MAX)) {
                let ns = ns * part;
                shard.add_most(group, (ns, task.id()));
                if task.kind() == TaskKind::Create {
                    *shard.making.entry(group).or_default() += ns;
                }
                let code = if missing { &mut shard.begins } else { &mut shard.code };
                let code = code.entry((group, kind)).or_default();
                match call.and_then(LongCall::block) {
                    Some(block) => add_all(code, [(block, ns)]),
                    None => add_all(
                        code,
                        work.iter().map(|(block, weight)| {
                            (block, ns * (weight as f64 / all.max(1) as f64))
                        }),
                    ),
                }
            }
        }
        Ok(())
    }

    fn complete(report: &mut Report, graph: &Graph) -> Result<()> {
        let looked_up = accesses_of(graph, 64);
        let windows = Windows::within(looked_up, LOOKED_UP);
        let mut memory = Part::new(MemUse::new(
            memuse::Options {
                // With windows, accesses come as sharing needs them, in one pass for both.
                slice_ns: windows.as_ref().map(|_| sharing::SLICE),
                windows: windows.clone(),
                ..default_config::<MemUse>()?
            },
            graph,
        )?);
        if graph.summary().accesses == 0 {
            run_all(graph, &mut [&mut memory])?;
            report.estimate(graph.info(), None, None, Some(&memory.finish(graph)?));
            return Ok(());
        }
        let mut misses = Part::new(Misses::new(
            misses::Options {
                sample: Sample::within(looked_up, LOOKED_UP).rate(),
                ..default_config::<Misses>()?
            },
            graph,
        )?);
        let mut sharing = Part::new(Sharing::new(
            sharing::Options { windows, ..default_config::<Sharing>()? },
            graph,
        )?);
        run_all(graph, &mut [&mut memory, &mut misses, &mut sharing])?;
        let (misses, sharing) = (misses.finish(graph)?, sharing.finish(graph)?);
        report.estimate(graph.info(), Some(&misses), Some(&sharing), Some(&memory.finish(graph)?));
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let _step = debug_span!("rows").entered();
        rows::report(self, graph, shards)
    }
}

impl Shard {
    /// Notes a task that has so much of a group's time, ns.
    fn add_most(&mut self, group: u32, (ns, task): (f64, TaskId)) {
        let most = self.most.entry(group).or_insert((ns, task));
        if ns > most.0 {
            *most = (ns, task);
        }
    }

    fn merge(&mut self, other: Self) {
        let both = [(&mut self.code, other.code), (&mut self.begins, other.begins)];
        for (own, more) in both {
            for (of, code) in more {
                add_all(own.entry(of).or_default(), code);
            }
        }
        for (group, most) in other.most {
            self.add_most(group, most);
        }
        add_all(&mut self.making, other.making);
        add_all(&mut self.ran, other.ran);
        self.weights.merge(other.weights);
        self.executed.merge(other.executed);
        self.atomics.merge(other.atomics);
    }
}

impl Run {
    /// Replays a run on so many processors.
    fn of(graph: &Graph, processors: u32, stretches: &Stretches) -> Result<Self> {
        let step = debug_span!("strands").entered();
        let Some(mut strands) = strands_of(graph, stretches)? else {
            let ns = end_of(graph) as f64;
            return Ok(Self { ns, too_long: true, kept_to: processors, ..Self::default() });
        };
        drop(step);
        let _step = debug_span!("replays", strands = strands.all.len()).entered();
        let none = Removable::default();
        let (kept_to, unbound) = kept_to(graph, &strands, stretches, processors);
        let spun = spun(&strands, kept_to);
        if spun.is_none() {
            strands.nobody_spins();
        }
        let on = (kept_to, Schedule::Greedy);
        let without = |removed| replay(&strands, on, (&none, removed), Nobody).0;
        let as_it_is = || spun.map_or_else(|| without(0), |(ns, _)| ns);
        let (ns, ideal_ns) = rayon::join(as_it_is, || without(LATE));
        let spinning = spun.map_or(0.0, |(_, part)| part);
        let sweep = Sweep::new(&strands, (kept_to, spinning), ns);
        let (_, sweep) = replay(&strands, on, (&none, 0), sweep);
        let blame = sweep.finish();
        Ok(Self { ideal_ns, kept_to, unbound, blame, strands, ns, too_long: false })
    }
}

/// The number of processors that threads kept to, and how many times as fast the run would be on
/// all. These are all processors unless the run would be much faster on them: threads that take
/// turns may stay on one.
fn kept_to(graph: &Graph, strands: &Strands, stretches: &Stretches, processors: u32) -> (u32, f64) {
    // Other programs, or the recording itself, may keep threads from a processor, too.
    let used = binding(graph.info()).and_then(|_| stretches.processors());
    let used = used.unwrap_or(processors).clamp(1, processors);
    if used == processors {
        return (processors, 1.0);
    }
    let none = Removable::default();
    let lasts = |on| replay(strands, (on, Schedule::Greedy), (&none, SPINNING), Nobody).0;
    let (bound, unbound) = rayon::join(|| lasts(used), || lasts(processors));
    let recorded = end_of(graph).saturating_sub(begin_of(graph)) as f64;
    let gain = bound / unbound.max(1.0);
    if gain >= BOUND && recorded * BOUND >= bound { (used, gain) } else { (processors, 1.0) }
}

/// The call of a function that binds threads to processors, if the program has one.
fn binding(info: &StaticInfo) -> Option<Place> {
    let binds = |block: &Block| BINDS.iter().any(|binds| callee(block).starts_with(binds));
    let at = info.blocks.iter().position(binds)?;
    Place::of_call(info, BlockId::new(index(at))).map(|(place, _)| place)
}

/// How long a run with contexts that spin takes, ns, and which part of what they take from others
/// they would not take if they slept: the rest is lost to what they wait for. `None` if spinning
/// costs the run little.
fn spun(strands: &Strands, processors: u32) -> Option<(f64, f64)> {
    if !strands.waits.iter().any(|wait| wait.spins) {
        return None;
    }
    let (on, none) = ((processors, Schedule::Greedy), Removable::default());
    let ((ns, Spun(taken)), (asleep, _)) = rayon::join(
        || replay(strands, on, (&none, 0), Spun(0.0)),
        || replay(strands, on, (&none, SPINNING), Nobody),
    );
    let costs = (ns - asleep) * f64::from(processors);
    let much = ns > asleep * SPINNING_COSTS && taken > 0.0;
    much.then(|| (ns, (costs / taken).min(1.0)))
}

/// Adds up what contexts that spin take from others, ns.
struct Spun(f64);

impl Watch for Spun {
    fn spins(&mut self, _context: u32, ns: f64) {
        self.0 += ns;
    }
}

/// Says what the run may gain at most, and sorts by what it gains without each loss, the largest
/// gain first. Losses that nobody can mend are last, however large they are.
fn sort(losses: &mut [Row]) {
    for row in losses.iter_mut() {
        row.at_most = row.most();
    }
    losses.sort_by(|a, b| {
        // What differs by less than a part of a hundred differs by chance.
        let gain = |row: &Row| (row.mended.first().copied().unwrap_or(0.0) * 100.0).round();
        let given = a.cause.is_given().cmp(&b.cause.is_given());
        let largest = b.ns.cmp(&a.ns).then(a.cause.cmp(&b.cause));
        given.then(gain(b).total_cmp(&gain(a))).then(largest)
    });
    // Nobody would spin without the waits: what brings as much and makes others wait comes first.
    let gain = |row: &Row| row.mended.first().copied().unwrap_or(1.0) - 1.0;
    if let [first, second, ..] = losses
        && first.cause == Loss::Spinning
        && gain(second) >= gain(first) * AS_MUCH
        && second.share >= SOME_SHARE
    {
        losses.swap(0, 1);
    }
}
