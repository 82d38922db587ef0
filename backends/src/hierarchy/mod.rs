//! `hierarchy`: private first- and second-level caches kept coherent by MESI, and a shared last level.
//!
//! Executors run on cores of their own (or, with `--cores`, executor e on core e modulo N) and are interleaved by time
//! ([`Order::ByTime`]). A private miss is *cold* if the core never used the line, *coherence* if another core's write
//! took it away, and *replaced* (capacity or conflict) otherwise. The protocol is in [`Machine`].
//!
//! Limits: there is no prefetching and no instruction fetching, physical addresses equal virtual ones, and the
//! interleaving is a plausible one, as in `sharing`. The memory is that of the caches and a few bytes for each line
//! and core.

mod machine;
mod render;
mod set_cache;

use std::str::FromStr;

use anyhow::{Result, bail};
use serde::Serialize;
use taskgraph::{Access, AffineRun, Again, ContextId, Piece};

use crate::analysis::{
    self, Accesses, Analysis, Graph, Moment, Moving, Order, Reads, Strides, Windows, lines,
    lines_of,
};
use crate::size::Size;

pub use machine::{CoreCounts, Lookups, MAX_CORES, Machine, Mesi, Shape};
pub use set_cache::SetCache;

/// How long an executor keeps its turn, unless the command line says otherwise.
const SLICE: u64 = 100;

/// Options of `hierarchy`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// First level of each core: size and ways
    #[arg(long, value_name = "SIZE:WAYS", default_value = "32K:8")]
    pub l1: Level,
    /// Second level of each core, or `none`
    #[arg(long, value_name = "SIZE:WAYS", default_value = "512K:8")]
    pub l2: Level,
    /// Last level, shared by all cores, or `none`
    #[arg(long, value_name = "SIZE:WAYS", default_value = "16M:16")]
    pub l3: Level,
    /// Bytes of a cache line
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub line: Size,
    /// Cores; executors take turns on them [default: one for each executor, at most 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub cores: Option<u32>,
    /// How long an executor keeps running before another one's turn, in nanoseconds
    #[arg(long, value_name = "NS", default_value_t = SLICE)]
    pub slice: u64,
    /// The part of the run to look at; `None` for all of it.
    #[arg(skip)]
    pub windows: Option<Windows>,
}

/// A level as typed: `32K:8`, or `none`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level(Option<(Size, u32)>);

impl FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let parts = text.split_once(':').and_then(|(size, ways)| {
            let ways: u32 = ways.parse().ok()?;
            Some((size.parse::<Size>().ok()?, ways))
        });
        match parts {
            Some((size, ways @ 1..=1024)) => Ok(Self(Some((size, ways)))),
            _ => Err(format!(
                "'{text}' is no cache level; write its size and its ways, e.g. 32K:8, or none"
            )),
        }
    }
}

impl Level {
    /// Sets and ways.
    ///
    /// # Errors
    /// When the number of sets is not a power of two, or there are more ways than lines.
    fn shape(self, name: &str, line: Size) -> Result<Option<Shape>> {
        let Some((size, ways)) = self.0 else {
            return Ok(None);
        };
        let lines = size.bytes() / line.bytes();
        let sets = lines / u64::from(ways);
        let whole = sets * u64::from(ways) * line.bytes() == size.bytes();
        if !whole || !sets.is_power_of_two() {
            bail!(
                "{name} {size}:{ways} with {line}-byte lines has {lines}/{ways} sets, which is not a power of two; choose other ways"
            );
        }
        Ok(Some(Shape {
            sets,
            ways: ways as usize,
        }))
    }
}

/// The analysis, which reads the graph by time.
#[derive(Debug)]
pub struct Hierarchy {
    line_shift: u32,
    l1: Shape,
    l2: Option<Shape>,
    l3: Option<Shape>,
    cores: Option<u32>,
    slice: u64,
    windows: Option<Windows>,
    executors: usize,
}

/// What the caches did.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Bytes of a line.
    pub line: u64,
    /// One of so many windows of the run was looked at, and the numbers are so many times what was found, but for first
    /// uses; absent if all of it was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windows: Option<u64>,
    /// One row for each level and kind of core; the rows of private levels are sums over cores.
    pub levels: Vec<LevelRow>,
    /// One row per core.
    pub cores: Vec<CoreRow>,
}

/// One level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelRow {
    /// `L1`, `L2`, `L3`.
    pub level: &'static str,
    /// Lines looked up.
    pub accesses: u64,
    /// Lines not found.
    pub misses: u64,
    /// Misses on lines that the core never used; absent for the shared level.
    pub cold: Option<u64>,
    /// Misses on lines that another core's write took away.
    pub coherence: Option<u64>,
    /// Misses on lines that other lines pushed out.
    pub replaced: Option<u64>,
}

/// One core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoreRow {
    pub core: usize,
    /// Lines looked up.
    pub accesses: u64,
    /// Misses of its first level.
    pub l1_misses: u64,
    /// First-level misses that other cores' writes caused.
    pub l1_coherence: u64,
    /// Misses of the last private level.
    pub private_misses: u64,
    /// Private misses that another core's modified line answered.
    pub transfers: u64,
    /// Writes to lines that other cores might have.
    pub upgrades: u64,
    /// Lines lost to other cores' writes.
    pub invalidated: u64,
    /// Modified lines written back.
    pub write_backs: u64,
    /// Misses of the shared level on behalf of this core.
    pub l3_misses: u64,
}

impl Analysis for Hierarchy {
    const NAME: &'static str = "hierarchy";
    const ABOUT: &'static str = "Private L1 and L2, shared L3, MESI: misses by level and cause";
    const ORDER: Order = Order::ByTime { slice_ns: SLICE };
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Watch;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let line = options.line;
        if !line.bytes().is_power_of_two() || !(4..=65536).contains(&line.bytes()) {
            bail!("--line {line}: a cache line is a power of two from 4 to 65536 bytes");
        }
        let Some(l1) = options.l1.shape("--l1", line)? else {
            bail!("--l1 none: every core has a first level; give its size and ways, e.g. 32K:8");
        };
        let l2 = options.l2.shape("--l2", line)?;
        if let Some(l2) = l2
            && l2.sets * (l2.ways as u64) < l1.sets * (l1.ways as u64)
        {
            bail!("--l2 is smaller than --l1, which it has to include; make it larger, or none");
        }
        analysis::full_recording(graph, "hierarchy needs")?;
        Ok(Self {
            line_shift: line.bytes().trailing_zeros(),
            l1,
            l2,
            l3: options.l3.shape("--l3", line)?,
            cores: options.cores,
            slice: options.slice,
            windows: options.windows,
            executors: graph.executor_count(),
        })
    }

    fn order(&self) -> Order {
        Order::ByTime {
            slice_ns: self.slice,
        }
    }

    fn windows(&self) -> Option<Windows> {
        self.windows.clone()
    }

    fn shard(&self, _: Option<ContextId>) -> Watch {
        self.watch(self.executors)
    }

    fn piece(&self, watch: &mut Watch, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        watch.core = at.executor as usize % watch.cores;
        watch.piece(piece);
        Ok(())
    }

    fn finish(self, graph: &Graph, shards: Vec<Watch>) -> Result<Report> {
        let watch = shards.into_iter().next();
        let watch = watch.unwrap_or_else(|| self.watch(graph.executor_count()));
        Ok(self.report(&watch.machine))
    }
}

/// The machine, how many cores it has, and which one does something.
#[derive(Debug)]
pub struct Watch {
    machine: Machine,
    cores: usize,
    core: usize,
    line_shift: u32,
    /// The last run, how many lines it looks up, and the core that found all of them in its inner cache.
    runs: Strides,
    lines: u64,
    settled: Option<usize>,
    /// For each loop of a nest, at the start of an iteration: how many were done, and the changes and look-ups of the core.
    loops: Vec<[u64; 3]>,
}

impl Watch {
    #[inline]
    fn look_up(&mut self, access: &Access) {
        for line in lines(access.addr, access.size, self.line_shift) {
            self.machine.access(self.core, line, access.write);
        }
    }
}

/// Accesses that find all their lines in the inner cache and change no state leave the machine in a state in which the same
/// accesses do so again. Further iterations, and further runs, are only counted.
impl Accesses for Watch {
    fn strides(&mut self) -> &mut Strides {
        &mut self.runs
    }

    #[inline]
    fn access(&mut self, access: &Access, _: u64) {
        self.look_up(access);
    }

    fn run(&mut self, _: &AffineRun<'_>, _: u64, again: bool) {
        let core = self.core;
        if again && self.settled == Some(core) {
            return self.machine.hit(core, self.lines);
        }
        let (mut runs, shift) = (std::mem::take(&mut self.runs), self.line_shift);
        let started = self.machine.changes(core);
        self.lines = 0;
        runs.by_line(shift, |moving, times| {
            let lines = |moving: &Moving| lines_of(&moving.access, shift) as u64;
            let lines: u64 = moving.iter().map(lines).sum();
            self.lines += lines * times;
            for left in (0..times).rev() {
                let before = self.machine.changes(core);
                let moving = moving.iter();
                moving.for_each(|moving| self.look_up(&moving.access));
                if self.machine.changes(core) == before {
                    self.machine.hit(core, lines * left);
                    break;
                }
            }
        });
        self.runs = runs;
        self.settled = (self.machine.changes(core) == started).then_some(core);
    }

    fn goes_on(&mut self, l: usize, done: u64, left: u64) -> Again {
        let (changes, lookups) = (
            self.machine.changes(self.core),
            self.machine.accesses(self.core),
        );
        self.loops.resize(self.loops.len().max(l + 1), [0; 3]);
        let then = std::mem::replace(&mut self.loops[l], [done, changes, lookups]);
        if done <= then[0] || changes != then[1] {
            return Again::Next;
        }
        let times = left / (done - then[0]);
        if times == 0 {
            return Again::Next;
        }
        self.machine.hit(self.core, (lookups - then[2]) * times);
        Again::Skip(times * (done - then[0]))
    }
}

impl Hierarchy {
    /// The consumer of all executors' actions in the order of time.
    fn watch(&self, executors: usize) -> Watch {
        let cores = self.cores.map_or(executors, |cores| cores as usize);
        let machine = Machine::new(cores, self.l1, self.l2, self.l3);
        let cores = machine.counts().len();
        Watch {
            cores,
            core: 0,
            machine,
            line_shift: self.line_shift,
            runs: Strides::default(),
            lines: 0,
            settled: None,
            loops: Vec::new(),
        }
    }

    /// The result of a machine that has seen all actions.
    fn report(&self, machine: &Machine) -> Report {
        let windows = self.windows.as_ref().map(Windows::every);
        let whole = |count: u64| count.saturating_mul(windows.unwrap_or(1));
        // A line is used for the first time once, so what a window sees of that stands for no other.
        let misses = |at: &Lookups| at.cold + whole(at.misses() - at.cold);
        let level = |level, pick: fn(&CoreCounts) -> Lookups| {
            let sum = |of: &dyn Fn(&Lookups) -> u64| {
                machine.counts().map(|core| of(&pick(&core))).sum::<u64>()
            };
            LevelRow {
                level,
                accesses: whole(sum(&|at| at.accesses)),
                misses: sum(&misses),
                cold: Some(sum(&|at| at.cold)),
                coherence: Some(whole(sum(&|at| at.coherence))),
                replaced: Some(whole(sum(&|at| at.replaced))),
            }
        };
        let mut levels = vec![level("L1", |core| core.l1)];
        if self.l2.is_some() {
            levels.push(level("L2", |core| core.l2));
        }
        if self.l3.is_some() {
            levels.push(LevelRow {
                level: "L3",
                accesses: whole(machine.counts().map(|core| core.l3).sum()),
                misses: whole(machine.counts().map(|core| core.l3_misses).sum()),
                cold: None,
                coherence: None,
                replaced: None,
            });
        }
        let row = |(core, counts): (usize, CoreCounts)| CoreRow {
            core,
            accesses: whole(counts.l1.accesses),
            l1_misses: misses(&counts.l1),
            l1_coherence: whole(counts.l1.coherence),
            private_misses: misses(match self.l2 {
                Some(_) => &counts.l2,
                None => &counts.l1,
            }),
            transfers: whole(counts.transfers),
            upgrades: whole(counts.upgrades),
            invalidated: whole(counts.invalidated),
            write_backs: whole(counts.write_backs),
            l3_misses: whole(counts.l3_misses),
        };
        Report {
            line: 1 << self.line_shift,
            windows,
            levels,
            cores: machine.counts().enumerate().map(row).collect(),
        }
    }
}
