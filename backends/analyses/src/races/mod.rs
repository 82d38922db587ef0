//! `races`: accesses to the same bytes, at least one of them a write, that no path of the graph
//! orders; and accesses to memory that nothing orders with the free that ends its life.
//!
//! The order is program order and the stored edges, not the schedule that happened, so a race is
//! reported even if the run went well. For every byte with a race at least one pair of source
//! places is reported, and nothing is reported that the graph orders. Two atomic accesses do not
//! race; an atomic and a plain one do. A load that the compiler makes where the source may not make
//! it (above the condition that it stands under) is no access of the program.
//!
//! Atomic operations order like locks if they were recorded as tasks (`--contech-atomics`). A
//! relaxed flag orders nothing, so data that it hands over is reported, and such a race says that
//! its contexts share an atomic variable.
//!
//! What has a side in a context that nobody announced is no race: code that is not recorded made
//! its thread, and orders what it does. Nor is what has a side in a context that hands work to the
//! kernel by io_uring. Both are told apart, as not known. Uses of objects of synchronisation that
//! come after their end are told, too.
//!
//! Limits: where the source does make a load that the compiler made above its condition, its races
//! are missed (`a || !b` at -O1 and -O2 may load both); without the optimiser they are found. The
//! lanes of a vector instruction are one access of one context, so races between iterations of a
//! loop that `omp simd` promises to be independent are missed. Stacks of detached threads are
//! reused without a record of it. Of several accesses to one byte in one task, a write stands for
//! the reads. Of more than 48 unordered accesses to the same 8 bytes, the first 8 and the latest 40
//! are remembered, so a race with only one of the others would be missed. If the shadow memory (4
//! bytes for 8 bytes of memory, more if many contexts read) outgrows `--memory`, the graph is read
//! once for each part of memory.

mod chains;
mod clocks;
mod detector;
mod explain;
mod record;
mod render;
mod shadow;
mod states;
mod tally;
mod variables;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Result, bail};
use serde::Serialize;
use taskgraph::{BlockCounts, Context, ContextId, MemOp, OpId, Piece, StaticInfo, SyncOp, TaskId};

use crate::analysis::source::Place;
use crate::analysis::{self, Analysis, Graph, Moment, Order, Reads, Share, Task, Windows, run_all};
use crate::size::Size;

use detector::{Misuse, Misuses};
use explain::{Moments, Spot};
use variables::Variables;

use detector::{Detector, Doubts};
use record::Kind;
use tally::{Doubt, Example, Memory};

/// Options of `races`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Memory for the shadow; with less, the graph is read several times
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub memory: Size,
    /// The part of the run to look at; `None` for all of it.
    #[arg(skip)]
    pub windows: Option<Windows>,
}

/// Memory is divided into fewer than twice so many parts.
const MOST_PARTS: u32 = 1 << 12;

/// The analysis: of all memory or, if that is too large, of one part after the other.
#[derive(Clone, Debug)]
pub struct Races {
    memory: usize,
    windows: Option<Windows>,
    part: Share,
    /// Whether the graph has one context, whose own order orders everything.
    alone: bool,
    /// By operation: its flags.
    flags: Vec<u8>,
    /// When the recording of the first thread ended that went on running.
    cut: u64,
    /// The contexts of which it is not known what orders them.
    doubts: Doubts,
}

/// Races of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Pairs of source places. Those whose contexts share no atomic variable come first, and among
    /// equals the most frequent.
    pub races: Vec<Race>,
    /// Pairs of source places that nothing recorded orders, but that something else may have
    /// ordered. They are no races.
    pub unknown: Vec<Unknown>,
    /// Mutexes, locks, semaphores and barriers that were used after they were destroyed.
    pub destroyed: Vec<Destroyed>,
    /// One of so many windows of the run was looked at; absent if all of it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// Number of checked reads and writes.
    pub accesses: u64,
    /// Accesses that were ignored because the allocation of their memory does not come before them,
    /// in units of 8 bytes.
    pub unowned: u64,
    /// Atomic operations in the program's code.
    pub atomic_operations: u64,
    /// How often the graph was read to its end.
    pub passes: u32,
}

/// Pairs of which it is not known whether they race.
#[derive(Clone, Debug, Serialize)]
pub struct Unknown {
    /// What may have ordered them, as a sentence.
    pub reason: String,
    /// The pairs, the most frequent first.
    pub pairs: Vec<Race>,
}

/// A use of an object of synchronisation after its end.
#[derive(Clone, Debug, Serialize)]
pub struct Destroyed {
    /// Address of the object, in the example.
    pub address: u64,
    /// What the program calls it, if it has its place for the whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// What is done with it, like `mutex_lock`.
    pub operation: String,
    /// Where it is used.
    pub used: Call,
    /// Where it was destroyed.
    pub destroyed: Call,
    /// Number of such uses.
    pub count: u64,
}

/// A call in a context.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The context.
    pub context: u32,
    /// The task.
    pub task: String,
    /// The place in the source.
    #[serde(flatten)]
    pub place: Place,
}

/// Two places in the source that race.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// A byte that both touch, in the example.
    pub address: u64,
    /// What the program calls that byte, if it is part of a variable that has its place for the
    /// whole run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variable: Option<String>,
    /// The call that made the memory, if a recorded one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<Made>,
    /// The context in whose stack the byte is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<u32>,
    /// One side.
    pub a: Side,
    /// The other.
    pub b: Side,
    /// Number of conflicting accesses of different tasks, in units of 8 bytes.
    pub count: u64,
    /// The order that is missing in the example.
    pub missing: String,
    /// Whether the two contexts of the example also use a common atomic variable.
    pub atomics: bool,
}

/// The call that made the memory of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Made {
    /// Where the call is.
    #[serde(flatten)]
    pub place: Place,
    /// How many bytes of the allocation are before the byte; absent for mapped memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Bytes of the allocation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// One side of a race.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Context of the example.
    pub context: u32,
    /// Task of the example.
    pub task: String,
    /// The place in the source.
    #[serde(flatten)]
    pub place: Place,
    /// Whether the access writes.
    pub write: bool,
    /// Whether the access is atomic.
    pub atomic: bool,
    /// Whether this side frees the memory instead of accessing it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub free: bool,
    /// The calls in the context that led there, the innermost first, without those that libraries
    /// make.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Place>,
    /// Where the context was created; absent if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<Place>,
}

impl Analysis for Races {
    const NAME: &'static str = "races";
    const ABOUT: &'static str =
        "Conflicting accesses that nothing orders, with both sources and the missing order";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const SYNCHRONISATION: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Detector;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        analysis::full_recording(graph, "races need")?;
        let flags = |op: &MemOp| op.flags;
        let doubts = graph.contexts().filter_map(|context| {
            let doubt = if context.flags & Context::ANNOUNCED == 0 {
                Doubt::Unannounced
            } else if context.flags & Context::RINGS != 0 {
                Doubt::Ring
            } else {
                return None;
            };
            Some((context.id, doubt))
        });
        Ok(Self {
            memory: usize::try_from(options.memory.bytes())?,
            windows: options.windows,
            part: Share::ALL,
            alone: graph.contexts().nth(1).is_none(),
            flags: graph.info().ops.iter().map(flags).collect(),
            cut: cut(graph)?,
            doubts: Arc::new(doubts.collect()),
        })
    }

    fn order(&self) -> Order {
        if self.alone { Order::Tables } else { Self::ORDER }
    }

    fn windows(&self) -> Option<Windows> {
        self.windows.clone()
    }

    fn shard(&self) -> Detector {
        Detector::new(
            self.flags.clone(),
            self.part,
            self.memory,
            self.cut,
            Arc::clone(&self.doubts),
        )
    }

    fn task(&self, detector: &mut Detector, task: &Task<'_>) -> Result<()> {
        detector.enter(task)
    }

    fn piece(&self, detector: &mut Detector, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        detector.piece(piece);
        Ok(())
    }

    fn passed(&self, detector: &mut Detector, _: u32, piece: &Piece<'_>) {
        if let Some(last) = piece.last_block() {
            detector.passed(last);
        }
    }

    fn done(&self, detector: &mut Detector, task: &Task<'_>, _: &BlockCounts) -> Result<()> {
        detector.leave(task);
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Detector>) -> Result<Report> {
        let mut merged = Merged::default();
        let mut parts = self.take(graph, &mut merged, shards)?;
        while let Some(part) = parts.pop() {
            let mut one = analysis::Part::new(Self { part, ..self.clone() });
            run_all(graph, &mut [&mut one])?;
            let (one, shards) = one.into_parts();
            parts.extend(one.take(graph, &mut merged, shards)?);
        }
        if self.alone {
            merged.accesses = graph.summary().accesses;
        }
        let looked_at = self.windows.filter(|_| !self.alone);
        merged.report(graph, looked_at.as_ref().map(Windows::every))
    }
}

impl Races {
    /// Takes the findings of its part of memory. If the part was too large, returns the parts to
    /// check instead.
    fn take(
        &self,
        graph: &Graph,
        merged: &mut Merged,
        shards: Vec<Detector>,
    ) -> Result<Vec<Share>> {
        merged.passes += 1;
        if !shards.iter().any(|detector| detector.full) {
            shards.into_iter().for_each(|detector| merged.add(graph.info(), detector));
            return Ok(Vec::new());
        }
        if self.part.of < MOST_PARTS {
            return Ok(self.part.halves().to_vec());
        }
        let memory = Size::text(self.memory as u64);
        bail!(
            "--memory {memory} is not enough even for one of {} parts of the memory accessed; give more",
            self.part.of
        );
    }
}

/// When the recording of the first thread ended that went on running, in nanoseconds; the largest
/// number if none did.
///
/// The end of a program ends the recordings of its threads one after the other, and what is
/// recorded later may follow what an earlier thread did without being recorded. In an incomplete
/// graph threads end when their records do, which may be long before anything was missing; there
/// nothing is left out.
fn cut(graph: &Graph) -> Result<u64> {
    let last = graph.contexts().next().and_then(|main| main.last_task());
    let (true, Some(last)) = (graph.meta().complete, last) else {
        return Ok(u64::MAX);
    };
    // A thread that was last seen before that was not ended by the end of the program.
    let since = graph.task(last)?.start_ns();
    let cut = graph.contexts().filter(|c| c.flags & Context::CUT != 0);
    let cut = cut.map(|c| c.last_ns).filter(|at| *at >= since);
    Ok(cut.min().unwrap_or(u64::MAX))
}

/// The results of all parts, by pair of places.
#[derive(Debug, Default)]
struct Merged {
    races: BTreeMap<(Option<Doubt>, SideKey, SideKey), Conflicts>,
    /// Pairs of contexts that use a common atomic variable.
    atomics: BTreeSet<(ContextId, ContextId)>,
    misuses: Misuses,
    accesses: u64,
    unowned: u64,
    passes: u32,
}

type SideKey = (Place, Kind);

#[derive(Clone, Copy, Debug)]
struct Conflicts {
    count: u64,
    example: Example,
    /// The operations of the example's two tasks.
    ops: [u32; 2],
    /// Whether the first task of the example is that of the second place.
    swapped: bool,
}

impl Conflicts {
    /// Where the example's two tasks execute what races.
    fn spots(&self, info: &StaticInfo) -> [Spot; 2] {
        let tasks = [self.example.first, self.example.second];
        let block = |op: u32| {
            let called = Detector::called_by(op);
            called.or_else(|| info.block_of_op(OpId::new(op)))
        };
        [0, 1].map(|side| (tasks[side], block(self.ops[side])))
    }
}

impl Merged {
    /// Adds what was found in a part of memory.
    fn add(&mut self, info: &StaticInfo, detector: Detector) {
        // Each part counts the accesses in all of memory.
        self.accesses = detector.accesses;
        self.unowned += detector.unowned;
        self.atomics.extend(detector.atomic_pairs);
        for (key, new) in detector.misuses {
            let found = self.misuses.entry(key).or_insert(Misuse { count: 0, ..new });
            found.count += new.count;
        }
        for &(pair, example, count) in &detector.tally.entries {
            let side = |(op, kind): (u32, Kind)| (place_of(info, op), kind);
            let (first, second) = (side(pair.first), side(pair.second));
            let swapped = second < first;
            let (a, b) = if swapped { (second, first) } else { (first, second) };
            let key = (pair.doubt, a, b);
            let new = Conflicts { count: 0, example, ops: [pair.first.0, pair.second.0], swapped };
            let found = self.races.entry(key).or_insert(new);
            found.count += count;
            if example.is_before(&found.example) {
                *found = Conflicts { count: found.count, ..new };
            }
        }
    }

    fn report(self, graph: &Graph, windows: Option<u64>) -> Result<Report> {
        let info = graph.info();
        let spots: Vec<Spot> = self.races.values().flat_map(|found| found.spots(info)).collect();
        let created = spots.iter().filter_map(|spot| creation(graph, *spot));
        let all = spots.iter().copied().chain(created);
        let moments = Moments::of(graph, all, windows.is_some())?;
        let bytes = self.races.values().map(|found| found.example.address);
        let objects = self.misuses.values().map(|misuse| misuse.object);
        let addresses = bytes.chain(moments.locks()).chain(objects);
        let variables = Variables::at(graph.meta(), addresses);
        let mut races: BTreeMap<Option<Doubt>, Vec<Race>> = BTreeMap::new();
        for ((doubt, a, b), found) in self.races {
            let example = found.example;
            let [first, second] = found.spots(info);
            let (of_a, of_b) = if found.swapped { (second, first) } else { (first, second) };
            let [one, other] = [first, second].map(|spot| spot.0.context);
            let atomics = self.atomics.contains(&(one.min(other), one.max(other)));
            let side = |key, spot| Side::new(key, spot, graph, &moments);
            let sides = [moments.at(first), moments.at(second)];
            races.entry(doubt).or_default().push(Race {
                address: example.address,
                variable: variables.name(example.address).map(str::to_owned),
                made: Made::of(info, &example),
                stack: match example.memory {
                    Memory::Stack(context) => Some(context.get()),
                    _ => None,
                },
                a: side(a, of_a),
                b: side(b, of_b),
                count: found.count,
                missing: explain::sentence(graph, sides, &variables, &example, atomics)?,
                atomics,
            });
        }
        // Races that an atomic variable may order come last.
        for races in races.values_mut() {
            races.sort_by_key(|race| (race.atomics, std::cmp::Reverse(race.count)));
        }
        let found = races.remove(&None).unwrap_or_default();
        let unknown = races.into_iter().filter_map(|(doubt, pairs)| {
            let reason = explain::doubt(graph, doubt?);
            Some(Unknown { reason, pairs })
        });
        let atomic = |op: &&MemOp| op.flags & MemOp::ATOMIC != 0;
        let misuses = self.misuses.iter();
        let destroyed = misuses.map(|(key, misuse)| Destroyed::new(info, &variables, *key, misuse));
        Ok(Report {
            races: found,
            destroyed: destroyed.collect(),
            unknown: unknown.collect(),
            windows,
            accesses: self.accesses,
            unowned: self.unowned,
            atomic_operations: graph.info().ops.iter().filter(atomic).count() as u64,
            passes: self.passes,
        })
    }
}

/// Where the context of a spot is created.
fn creation(graph: &Graph, (task, _): Spot) -> Option<Spot> {
    let creator = graph.context(task.context)?.creator?;
    Some((creator, None))
}

impl Made {
    fn of(info: &StaticInfo, example: &Example) -> Option<Self> {
        let Memory::Made { by, range } = example.memory else {
            return None;
        };
        Some(Self {
            place: Place::of_call_or_block(info, by).0,
            offset: range.map(|(start, _)| example.address - start),
            size: range.map(|(_, size)| size),
        })
    }
}

impl Side {
    fn new((place, kind): SideKey, spot: Spot, graph: &Graph, moments: &Moments) -> Self {
        let at = |spot| moments.at(spot);
        let created = creation(graph, spot).and_then(at);
        Self {
            context: spot.0.context.get(),
            task: spot.0.to_string(),
            place,
            write: kind.writes(),
            atomic: kind.atomic(),
            free: kind == Kind::Free,
            callers: at(spot).map_or_else(Vec::new, |at| at.callers.clone()),
            created: created.and_then(|at| at.call.clone()),
        }
    }
}

impl Destroyed {
    fn new(
        info: &StaticInfo,
        variables: &Variables,
        (op, used, destroyed): (u8, u32, u32),
        misuse: &Misuse,
    ) -> Self {
        let call = |task: TaskId, op| Call {
            context: task.context.get(),
            task: task.to_string(),
            place: Detector::called_by(op)
                .map_or_else(Place::default, |block| Place::of_call_or_block(info, block).0),
        };
        Self {
            address: misuse.object,
            variable: variables.name(misuse.object).map(str::to_owned),
            operation: SyncOp::from_u8(op).unwrap_or_default().to_string(),
            used: call(misuse.used, used),
            destroyed: call(misuse.destroyed, destroyed),
            count: misuse.count,
        }
    }
}

/// The source line of an operation or of a call of free.
fn place_of(info: &StaticInfo, op: u32) -> Place {
    if let Some(block) = Detector::called_by(op) {
        return Place::of_call_or_block(info, block).0;
    }
    Place::of_op(info, OpId::new(op))
}
