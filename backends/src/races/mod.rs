//! `races`: accesses to the same bytes, at least one of them a write, that no path of the graph orders; and accesses
//! to memory that nothing orders with the free that ends its life.
//!
//! The order is program order and the stored edges, not the schedule that happened, so a race is reported even if the
//! run went well. For every byte with a race at least one pair of source places is reported, and nothing is reported
//! that the graph orders. Two atomic accesses do not race; an atomic and a plain one do. A load that the compiler makes
//! where the source may not make it (above the condition that it stands under) is no access of the program.
//!
//! Atomic operations order like locks if they were recorded as tasks (`--contech-atomics`). A relaxed flag orders
//! nothing, so data that it hands over is reported, and such a race says that its contexts share an atomic variable.
//!
//! Limits: stacks of detached threads are reused without a record of it. Of several accesses to one byte in one task,
//! a write stands for the reads. Of more than 48 unordered accesses to the same 8 bytes, the first 8 and the latest
//! 40 are remembered, so a race with only one of the others would be missed. If the shadow memory (4 bytes for 8
//! bytes of memory, more if many contexts read) outgrows `--memory`, the graph is read once for each part of memory.

mod chains;
mod clocks;
mod detector;
mod explain;
mod nests;
mod record;
mod render;
mod shadow;
mod states;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use serde::Serialize;
use taskgraph::{BlockCounts, BlockId, Context, ContextId, MemOp, OpId, Piece, StaticInfo, TaskId};

use crate::analysis::source::Place;
use crate::analysis::{self, Analysis, Graph, Moment, Order, Reads, Share, Task, Windows, run_all};
use crate::size::Size;

use explain::HeldIn;

pub use chains::Epoch;
pub use clocks::Clocks;
pub use detector::Detector;
pub use record::{Kind, Record, Use};
pub use shadow::Shadow;
pub use states::{StateId, States};
pub use tally::{Example, Pair, Tally};

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
#[derive(Debug)]
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
}

/// Races of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Pairs of source places. Those whose contexts share no atomic variable come first, and among equals the most
    /// frequent.
    pub races: Vec<Race>,
    /// One of so many windows of the run was looked at; absent if all of it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// Number of checked reads and writes.
    pub accesses: u64,
    /// Accesses that were ignored because the allocation of their memory does not come before them, in units of 8
    /// bytes.
    pub unowned: u64,
    /// Atomic operations in the program's code.
    pub atomic_operations: u64,
    /// How often the graph was read to its end.
    pub passes: u32,
}

/// Two places in the source that race.
#[derive(Clone, Debug, Serialize)]
pub struct Race {
    /// A byte that both touch, in the example.
    pub address: u64,
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
}

impl Analysis for Races {
    const NAME: &'static str = "races";
    const ABOUT: &'static str =
        "Conflicting accesses that nothing orders, with both sources and the missing order";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Detector;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        analysis::full_recording(graph, "races need")?;
        let flags = |op: &MemOp| op.flags;
        Ok(Self {
            memory: usize::try_from(options.memory.bytes())?,
            windows: options.windows,
            part: Share::ALL,
            alone: graph.contexts().nth(1).is_none(),
            flags: graph.info().ops.iter().map(flags).collect(),
            cut: cut(graph)?,
        })
    }

    fn windows(&self) -> Option<Windows> {
        self.windows.clone()
    }

    fn shard(&self, _: Option<ContextId>) -> Detector {
        self.detector()
    }

    fn task(&self, detector: &mut Detector, task: &Task<'_>) -> Result<()> {
        if self.alone {
            return Ok(());
        }
        detector.enter(task)
    }

    fn piece(&self, detector: &mut Detector, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        if !self.alone {
            detector.piece(piece);
        }
        Ok(())
    }

    fn passed(&self, detector: &mut Detector, _: u32, last: BlockId) {
        detector.passed(last);
    }

    fn done(&self, detector: &mut Detector, task: &Task<'_>, _: &BlockCounts) -> Result<()> {
        if !self.alone {
            detector.leave(task);
        }
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Detector>) -> Result<Report> {
        let mut merged = Merged::default();
        let whole = shards.into_iter().next();
        let whole = whole.unwrap_or_else(|| self.detector());
        let mut parts = self.take(graph, &mut merged, whole)?;
        while let Some(part) = parts.pop() {
            let mut one = analysis::Part::new(Self {
                memory: self.memory,
                windows: self.windows.clone(),
                part,
                alone: self.alone,
                flags: self.flags.clone(),
                cut: self.cut,
            });
            run_all(graph, &mut [&mut one])?;
            let detector = one.into_parts().1.into_iter().next();
            let detector = detector.unwrap_or_else(|| self.detector());
            parts.extend(self.take(graph, &mut merged, detector)?);
        }
        if self.alone {
            merged.accesses = graph.summary().accesses;
        }
        let looked_at = self.windows.filter(|_| !self.alone);
        merged.report(graph, looked_at.as_ref().map(Windows::every))
    }
}

impl Races {
    fn detector(&self) -> Detector {
        Detector::new(self.flags.clone(), self.part, self.memory, self.cut)
    }

    /// Takes the findings of one part of memory. If the part was too large, returns the parts to check instead.
    fn take(&self, graph: &Graph, merged: &mut Merged, detector: Detector) -> Result<Vec<Share>> {
        merged.passes += 1;
        if !detector.is_full() {
            merged.add(graph.info(), &Findings::of(&detector));
            return Ok(Vec::new());
        }
        let part = detector.part();
        if part.of < MOST_PARTS {
            return Ok(part.halves().to_vec());
        }
        let memory = Size::text(self.memory as u64);
        bail!(
            "--memory {memory} is not enough even for one of {} parts of the memory accessed; give more",
            part.of
        );
    }
}

/// When the recording of the first thread ended that went on running, in nanoseconds; the largest number if none did.
///
/// The end of a program ends the recordings of its threads one after the other, and what is recorded later may follow
/// what an earlier thread did without being recorded. In an incomplete graph threads end when their records do, which
/// may be long before anything was missing; there nothing is left out.
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
    races: BTreeMap<(SideKey, SideKey), Found>,
    atomics: BTreeSet<(u32, u32)>,
    accesses: u64,
    unowned: u64,
    passes: u32,
}

type SideKey = (Place, Kind);

#[derive(Debug)]
struct Found {
    count: u64,
    example: Example,
    /// Whether the first task of the example is that of the second place.
    swapped: bool,
}

/// What was found in a part of memory.
#[derive(Debug)]
struct Findings {
    entries: Vec<(Pair, Example, u64)>,
    /// Pairs of contexts that use a common atomic variable.
    atomics: Vec<(u32, u32)>,
    /// Accesses in all of memory.
    accesses: u64,
    unowned: u64,
}

impl Findings {
    fn of(detector: &Detector) -> Self {
        Self {
            entries: detector.tally.entries().copied().collect(),
            atomics: detector.atomic_pairs().collect(),
            accesses: detector.accesses,
            unowned: detector.unowned,
        }
    }
}

impl Merged {
    fn add(&mut self, info: &StaticInfo, findings: &Findings) {
        self.accesses = findings.accesses;
        self.unowned += findings.unowned;
        self.atomics.extend(&findings.atomics);
        for (pair, example, count) in &findings.entries {
            let side = |(op, kind): (u32, Kind)| (place_of(info, op), kind);
            let (first, second) = (side(pair.first), side(pair.second));
            let swapped = second < first;
            let key = if swapped {
                (second, first)
            } else {
                (first, second)
            };
            let new = Found {
                count: 0,
                example: *example,
                swapped,
            };
            let found = self.races.entry(key).or_insert(new);
            found.count += count;
            if example.is_before(&found.example) {
                (found.example, found.swapped) = (*example, swapped);
            }
        }
    }

    fn report(self, graph: &Graph, windows: Option<u64>) -> Result<Report> {
        let examples = self
            .races
            .values()
            .flat_map(|found| [found.example.first, found.example.second]);
        let locks = HeldIn::of_tasks(graph, examples)?;
        let mut races = Vec::new();
        for ((a, b), found) in self.races {
            let example = found.example;
            let (first, second) = if found.swapped {
                (example.second, example.first)
            } else {
                (example.first, example.second)
            };
            let contexts = [first, second].map(|task| task.context.get());
            let contexts = (contexts[0].min(contexts[1]), contexts[0].max(contexts[1]));
            let atomics = self.atomics.contains(&contexts);
            races.push(Race {
                address: example.address,
                a: Side::new(a, first),
                b: Side::new(b, second),
                count: found.count,
                missing: explain::sentence(graph, &locks, &example, atomics)?,
                atomics,
            });
        }
        // Races that an atomic variable may order come last.
        races.sort_by_key(|race| (race.atomics, std::cmp::Reverse(race.count)));
        let atomic = |op: &&taskgraph::MemOp| op.flags & taskgraph::MemOp::ATOMIC != 0;
        Ok(Report {
            races,
            windows,
            accesses: self.accesses,
            unowned: self.unowned,
            atomic_operations: graph.info().ops.iter().filter(atomic).count() as u64,
            passes: self.passes,
        })
    }
}

impl Side {
    fn new((place, kind): SideKey, task: TaskId) -> Self {
        Self {
            context: task.context.get(),
            task: task.to_string(),
            place,
            write: kind.writes(),
            atomic: kind.atomic(),
            free: kind == Kind::Free,
        }
    }
}

/// The source line of an operation or of a call of free.
fn place_of(info: &StaticInfo, op: u32) -> Place {
    if let Some(block) = Detector::freed_by(op) {
        let call = Place::of_call(info, block).map(|(place, _)| place);
        return call.unwrap_or_else(|| Place::of_block(info, block));
    }
    let id = OpId::new(op);
    let place = info
        .block_of_op(id)
        .map_or_else(Place::default, |block| Place::of_block(info, block));
    let line = info.op(id).map_or(0, |op| op.line);
    if line == 0 {
        place
    } else {
        Place { line, ..place }
    }
}
