//! `cache`: miss curves over sizes and ways (contech.txt, section 5.3 and Figure 9), all from one
//! pass.
//!
//! The caches see every access of the graph: contexts interleave in the breadth-first order of
//! tasks (section 4.2), an access that spans lines looks each of them up, and a bulk copy touches
//! every line it reads and writes. Replacement is least recently used, exactly. `--private` gives
//! each executor caches of its own, without coherence between them. With [`Sample`], the fully
//! associative caches are estimated from a part of the lines.

mod geometry;
mod line_ids;
mod look;
mod lookups;
mod model;
mod recency;
mod render;
mod sample;
mod sets;

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use taskgraph::Piece;

use crate::analysis::{Analysis, Divided, Graph, Moment, Order, Reads, default_config};
use crate::size::{Size, Sizes};

pub use geometry::{Geometries, Geometry, Ways};
pub(crate) use line_ids::LineIds;
pub use look::{Look, LookedUp, Tally};
pub use lookups::LookUps;
pub use model::CacheModel;
pub use recency::RecencyGroups;
pub use sample::Sample;

/// Options of `cache`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Cache sizes: 32K, a list 32K,1M or every doubling of a range 1K..256M
    #[arg(long, value_name = "SIZES", default_value = "1K..256M")]
    pub sizes: Sizes,
    /// Lines per set: numbers and `full`
    #[arg(long, value_name = "WAYS", value_delimiter = ',', default_value = "1,2,4,8,16,full")]
    pub ways: Vec<Ways>,
    /// Bytes of a cache line
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub line: Size,
    /// One cache that all executors share (the default)
    #[arg(long, conflicts_with = "private")]
    pub shared: bool,
    /// A cache for each executor, a thread; the counts are the sums
    #[arg(long)]
    pub private: bool,
    /// A preview from this share of the lines, 0.001 to 1: estimates, for fully associative caches
    /// only
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub sample: Option<f64>,
}

/// A share of the lines as typed.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if (0.001..=1.0).contains(&rate) => Ok(rate),
        _ => Err(format!(
            "'{text}' is not a share of the lines; write a number from 0.001 to 1, e.g. 0.01"
        )),
    }
}

impl Default for Options {
    /// The values of a command line without options.
    fn default() -> Self {
        default_config::<Cache>().expect("no option must be given")
    }
}

#[derive(Debug)]
pub struct Cache {
    geometries: Geometries,
    private: bool,
    sample: Sample,
    /// Accesses of the run.
    accesses: u64,
    /// Whether what was in the caches before is another worker's.
    stretch: bool,
}

/// The caches of one shard, or only their counts once the shard is sealed.
#[derive(Debug)]
pub enum Shard {
    /// The shard takes accesses, of this executor if each has caches of its own.
    Model(Option<u32>, Box<LookUps>),
    /// What was counted.
    Counts(WorkerCounts),
}

/// What a worker found of the caches of an executor, or of all.
#[derive(Debug, Serialize, Deserialize)]
pub struct WorkerCounts {
    executor: Option<u32>,
    counts: Counts,
    stretch: Option<model::Stretch>,
}

/// What the caches of a shard counted.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Counts {
    accesses: u64,
    /// First accesses of lines, if they are known.
    cold: Option<u64>,
    /// Misses of each geometry, but for lines that are new in a stretch, and by how many of them an
    /// estimate may be off.
    misses: Vec<u64>,
    error: f64,
}

impl Counts {
    fn of(model: &CacheModel, geometries: &Geometries) -> Self {
        let misses = geometries.all.iter().map(|geometry| model.misses(geometry));
        Self {
            accesses: model.looked_up(0),
            cold: model.cold(),
            misses: misses.collect(),
            error: model.error(geometries),
        }
    }

    fn add(&mut self, other: &Self) {
        self.accesses += other.accesses;
        self.cold = self.cold.zip(other.cold).map(|(sum, first)| sum + first);
        let sums = self.misses.iter_mut().zip(&other.misses);
        sums.for_each(|(sum, missed)| *sum += missed);
        self.error += other.error;
    }
}

/// Miss curves.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Bytes of a line.
    pub line: u64,
    /// Whether each executor has its own cache.
    pub private: bool,
    /// The share of the lines from which the numbers are estimated; absent if they are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
    /// By how much an estimated miss rate may be off, in caches that hold at least 16 of the
    /// sampled lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// Every modelled cache, by ways, then by size.
    pub points: Vec<Point>,
}

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    pub size: u64,
    /// Lines per set.
    pub ways: Ways,
    /// Lines looked up.
    pub accesses: u64,
    /// Lines not found.
    pub misses: u64,
    /// The misses by cause; absent unless fully associative caches are modelled too.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
}

/// Misses by cause (Hill and Smith, "Evaluating associativity in CPU caches", 1989); they add up to
/// the misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Split {
    /// First look-ups of a line.
    pub cold: u64,
    /// Further misses of a fully associative cache of this size.
    pub capacity: u64,
    /// Misses that the sets add. The number is negative if the sets keep lines that
    /// least-recently-used replacement over the whole cache would have dropped.
    pub conflict: i64,
}

impl Analysis for Cache {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "Miss curves of caches of many sizes and ways, in one pass";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, graph: &Graph) -> Result<Self> {
        let full = [Ways::Full];
        let ways = match options.sample {
            Some(_) => &full[..],
            None => &options.ways,
        };
        Ok(Self {
            geometries: Geometries::new(&options.sizes, ways, options.line)?,
            private: options.private,
            sample: options.sample.map_or(Sample::ALL, Sample::new),
            accesses: graph.summary().accesses,
            stretch: false,
        })
    }

    fn order(&self) -> Order {
        if self.private { Order::PerExecutor } else { Self::ORDER }
    }

    fn shard(&self) -> Shard {
        let model = match self.stretch {
            true => CacheModel::of_stretch(&self.geometries),
            false => CacheModel::of(&self.geometries, self.sample),
        };
        Shard::Model(None, Box::new(LookUps::new(model)))
    }

    fn piece(&self, shard: &mut Shard, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        if let Shard::Model(executor, look_ups) = shard {
            *executor = Some(at.executor).filter(|_| self.private);
            look_ups.piece(piece, 0, &mut ());
        }
        Ok(())
    }

    fn seal(&self, shard: &mut Shard) {
        if let Shard::Model(executor, look_ups) = shard {
            look_ups.flush(&mut ());
            let model = &mut look_ups.model;
            let mut counts = Counts::of(model, &self.geometries);
            let stretch = model.stretch();
            let new = stretch.as_ref().map_or(0, model::Stretch::new_lines);
            counts.misses.iter_mut().for_each(|missed| *missed -= new);
            *shard = Shard::Counts(WorkerCounts { executor: *executor, counts, stretch });
        }
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let found = self.found(shards);
        self.join(graph, vec![found])
    }
}

impl Divided for Cache {
    type Found = Vec<WorkerCounts>;
    const STRETCHES: bool = true;

    fn only(&mut self) -> Result<()> {
        ensure!(
            self.sample.rate().is_none(),
            "--sample makes a preview, which is small enough for one worker: leave it out"
        );
        self.stretch = true;
        Ok(())
    }

    fn found(&self, shards: Vec<Shard>) -> Vec<WorkerCounts> {
        let counts = shards.into_iter().filter_map(|shard| match shard {
            Shard::Counts(found) => Some(found),
            Shard::Model(..) => None,
        });
        counts.collect()
    }

    fn join(self, _: &Graph, parts: Vec<Vec<WorkerCounts>>) -> Result<Report> {
        let all = &self.geometries.all;
        let mut sum = Counts { cold: Some(0), misses: vec![0; all.len()], ..Counts::default() };
        let mut models: BTreeMap<Option<u32>, CacheModel> = BTreeMap::new();
        for mut found in parts.into_iter().flatten() {
            ensure!(
                found.counts.misses.len() == all.len(),
                "the shares have {} caches, and there are {}",
                found.counts.misses.len(),
                all.len()
            );
            if let Some(stretch) = &found.stretch {
                let model = models.entry(found.executor);
                let new = || CacheModel::of(&self.geometries, Sample::ALL);
                model.or_insert_with(new).follow(stretch);
                // Known of the whole run only.
                found.counts.cold = Some(0);
            }
            sum.add(&found.counts);
        }
        for model in models.values() {
            // These look-ups are among those of the stretches.
            let accesses = 0;
            sum.add(&Counts { accesses, ..Counts::of(model, &self.geometries) });
        }
        Ok(self.report(&sum))
    }
}

impl Cache {
    /// The caches.
    pub(crate) fn geometries(&self) -> &[Geometry] {
        &self.geometries.all
    }

    /// The curves of a model that has all of the caches, and others.
    pub(crate) fn report_of(&self, model: &CacheModel) -> Report {
        self.report(&Counts::of(model, &self.geometries))
    }

    fn report(&self, counts: &Counts) -> Report {
        let rate = self.sample.rate();
        // What a sample counts are only further lines of accesses.
        let accesses = rate.map_or(0, |_| self.accesses) + counts.accesses;
        let all = &self.geometries.all;
        let full = |size| {
            let found = all
                .iter()
                .zip(&counts.misses)
                .find(|(geometry, _)| geometry.ways == Ways::Full && geometry.size == size);
            found.map(|(_, &misses)| misses)
        };
        let point = |(geometry, &misses): (&Geometry, &u64)| Point {
            size: geometry.size,
            ways: geometry.ways,
            accesses,
            misses,
            split: counts.cold.zip(full(geometry.size)).map(|(cold, full)| Split {
                cold,
                capacity: full - cold,
                conflict: misses.cast_signed() - full.cast_signed(),
            }),
        };
        Report {
            line: 1 << self.geometries.line_shift,
            private: self.private,
            sample: rate,
            error: rate.map(|_| counts.error / accesses.max(1) as f64),
            points: all.iter().zip(&counts.misses).map(point).collect(),
        }
    }
}
