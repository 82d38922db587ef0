//! `sharing`: which executors read what other executors wrote, and the cache lines that go back and
//! forth between them.
//!
//! Executors are interleaved by time ([`Order::ByTime`]). Each has a cache of its own of unlimited
//! size, which is kept coherent by taking a written line away from all other executors. A miss on a
//! line that was taken away is true sharing if data of another executor is used before the line is
//! lost again, and false sharing if not (Dubois et al., ISCA 1993). Padding or moving the data
//! would save the false-sharing misses.
//!
//! Limits: the accesses of a task are assumed to be spread evenly over its duration, and recording
//! stretches time. So the counts are those of a plausible interleaving and not of the one that
//! happened. An executor keeps a line for at least `--slice`, about the time of a transfer. The
//! first accesses of an executor to a line (cold) do not count as misses. If memory is allocated
//! again before the model has come to its release, what other executors still do there belongs to
//! its earlier life, and is left out until the release or the end of the allocating task.

mod caches;
mod line;
mod render;
mod report;

use std::sync::Arc;

use anyhow::{Result, bail};
use taskgraph::{Access, Action, AffineRun, Piece, StaticInfo};

use crate::analysis::{self, Accesses, Analysis, Graph, Moment, Order, Reads, Strides, Windows};
use crate::heap::{Allocation, Calls, Heap, Origin, SiteId, Sites};
use crate::size::Sizes;

use caches::Caches;
use line::NOWHERE;
pub use report::{LineRow, Report, SiteMisses, Source, Total};

/// How long an executor keeps its turn, unless the command line says otherwise.
pub const SLICE: u64 = 100;

/// Number of allocations, the latest, whose earlier lives are told apart.
const RENEWED: usize = 64;

/// Options of `sharing`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Bytes of a line: 32, 64, 128, or several at once 32,64,128
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub line: Sizes,
    /// How long an executor keeps running before another one's turn, in nanoseconds
    #[arg(long, value_name = "NS", default_value_t = SLICE)]
    pub slice: u64,
    /// Rows of each table shown as text
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub top: u32,
    /// The part of the run to look at; `None` for all of it.
    #[arg(skip)]
    pub windows: Option<Windows>,
}

/// The analysis, which reads the graph by time.
#[derive(Debug)]
pub struct Sharing {
    shifts: Vec<u32>,
    /// Whether the run has only one executor, which shares nothing.
    alone: bool,
    info: Arc<StaticInfo>,
    options: Options,
}

impl Analysis for Sharing {
    const NAME: &'static str = "sharing";
    const ABOUT: &'static str =
        "Communication between executors, true and false sharing by line, allocation and source";
    const ORDER: Order = Order::ByTime { slice_ns: SLICE };
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Watch;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let mut shifts = Vec::new();
        for size in options.line.as_slice() {
            let bytes = size.bytes();
            if !bytes.is_power_of_two() || !(8..=128).contains(&bytes) {
                bail!("--line {size}: a line is 8, 16, 32, 64 or 128 bytes here");
            }
            shifts.push(bytes.trailing_zeros());
        }
        analysis::full_recording(graph, "sharing needs")?;
        Ok(Self { shifts, alone: graph.executor_count() < 2, info: graph.shared_info(), options })
    }

    fn order(&self) -> Order {
        Order::ByTime { slice_ns: self.options.slice }
    }

    fn windows(&self) -> Option<Windows> {
        self.options.windows.clone()
    }

    fn shard(&self) -> Watch {
        Watch {
            caches: self.shifts.iter().map(|&shift| Caches::new(shift)).collect(),
            slice: self.options.slice.max(1),
            ..Watch::default()
        }
    }

    fn piece(&self, watch: &mut Watch, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        if !self.alone {
            watch.piece_at(&self.info, at, piece);
        }
        Ok(())
    }

    fn passed(&self, watch: &mut Watch, context: u32, piece: &Piece<'_>) {
        watch.calls.note(&self.info, context, piece);
    }

    fn ended(&self, watch: &mut Watch, executor: u32) {
        let caches = watch.caches.iter_mut();
        caches.for_each(|cache| cache.end_executor(executor));
    }

    fn finish(self, graph: &Graph, shards: Vec<Watch>) -> Result<Report> {
        let watch = shards.into_iter().next().unwrap_or_else(|| self.shard());
        let windows = self.options.windows.filter(|_| !self.alone);
        let top = self.options.top as usize;
        Ok(report::report(
            graph,
            (watch.caches, &watch.memory.sites.rows(graph.info())),
            (windows.as_ref().map(Windows::every), top),
        ))
    }
}

/// The caches of every line size, and the allocations: what takes all executors' actions in the
/// order of time.
#[derive(Debug, Default)]
pub struct Watch {
    caches: Vec<Caches>,
    memory: Memory,
    calls: Calls,
    /// The last run, and the executor that it is of.
    runs: Strides,
    of: u32,
    /// The executor whose turn it is, and when its turn began, ns.
    turn_of: u32,
    turn_ns: u64,
    slice: u64,
}

impl Watch {
    /// A piece of what an executor does.
    fn piece_at(&mut self, info: &StaticInfo, at: &Moment, piece: &Piece<'_>) {
        let executor = at.executor;
        self.memory.renewed.retain(|memory| memory.is_known(at));
        if std::mem::replace(&mut self.turn_of, executor) != executor {
            // Executors that wait for each other have long turns, and do not fight for what they
            // hand over.
            let now = at.time();
            let turns = 1 + now.saturating_sub(self.turn_ns) / (2 * self.slice);
            self.turn_ns = now;
            self.caches.iter_mut().for_each(|cache| cache.turn += turns);
        }
        if let Piece::Action(action) = piece {
            let origin = || self.calls.origin(info, at.context, 0);
            self.memory.action(at, origin, action);
        }
        self.piece(piece);
        self.calls.note(info, at.context, piece);
    }
}

impl Accesses for Watch {
    fn strides(&mut self) -> &mut Strides {
        &mut self.runs
    }

    #[inline]
    fn access(&mut self, access: &Access, _: u64) {
        let (memory, executor) = (&self.memory, self.turn_of);
        if memory.is_earlier(executor, access) {
            return;
        }
        for cache in &mut self.caches {
            cache.access(executor, access, |address| memory.site(address));
        }
    }

    fn run(&mut self, _: &AffineRun<'_>, _: u64, again: bool) {
        let (memory, executor) = (&self.memory, self.turn_of);
        let of = std::mem::replace(&mut self.of, executor);
        if again && of == executor {
            // After the first time the executor holds a copy of each line and knows all its news.
            return;
        }
        let site = |address| memory.site(address);
        for cache in &mut self.caches {
            self.runs.by_line(cache.shift, |moving, times| {
                cache.stretch(executor, moving, times, site);
            });
        }
    }

    fn takes_runs(&self) -> bool {
        self.memory.renewed.is_empty()
    }
}

/// Memory that was allocated again, and whose release before that is still to come.
#[derive(Debug)]
struct Renewed {
    start: u64,
    end: u64,
    /// The executor that has it now.
    by: u32,
    /// When the task began that allocated it, ns.
    since: u64,
}

impl Renewed {
    /// Whether this still counts when an executor comes to a moment: its own task that allocated
    /// the memory goes on.
    fn is_known(&self, at: &Moment) -> bool {
        self.by != at.executor || self.since == at.began()
    }

    fn has(&self, access: &Access) -> bool {
        access.addr < self.end && self.start < access.addr.saturating_add(access.size)
    }
}

/// The allocations so far.
#[derive(Debug, Default)]
struct Memory {
    heap: Heap,
    sites: Sites,
    renewed: Vec<Renewed>,
}

impl Memory {
    /// The allocation site of the memory at an address.
    fn site(&self, address: u64) -> SiteId {
        self.heap.find(address).site.unwrap_or(NOWHERE)
    }

    /// Whether an access of an executor belongs to an earlier life of its memory.
    fn is_earlier(&self, executor: u32, access: &Access) -> bool {
        let earlier = |memory: &Renewed| memory.by != executor && memory.has(access);
        self.renewed.iter().any(earlier)
    }

    fn action(&mut self, at: &Moment, origin: impl FnOnce() -> Origin, action: &Action<'_>) {
        let (executor, since) = (at.executor, at.began());
        match *action {
            Action::Alloc { addr, size, .. } => {
                let site = self.sites.allocated(origin(), size);
                let before = self.heap.allocate(Allocation {
                    start: addr,
                    size,
                    site,
                    tag: executor.into(),
                });
                let others = before.iter().filter(|old| old.tag != u64::from(executor));
                self.renewed.extend(others.map(|old| Renewed {
                    start: old.start,
                    end: old.end(),
                    by: executor,
                    since,
                }));
                let oldest = self.renewed.len().saturating_sub(RENEWED);
                self.renewed.drain(..oldest);
            }
            Action::Free { addr } => {
                let freed = self.heap.free(addr).is_some();
                self.renewed.retain(|memory| freed || memory.start != addr);
            }
            _ => {}
        }
    }
}
