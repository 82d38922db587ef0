//! `cache`: miss curves over sizes and ways (contech.txt, section 5.3 and Figure 9), all from one pass.
//!
//! The caches see every access of the graph: contexts interleave in the breadth-first order of tasks (section 4.2), an
//! access that spans lines looks each of them up, and a bulk copy touches every line it reads and writes. Replacement
//! is least recently used, exactly. `--private` gives each context caches of its own, without coherence between them.
//! With [`Sample`], the fully associative caches are estimated from a part of the lines.

mod geometry;
mod line_ids;
mod lookups;
mod model;
mod promote;
mod recency;
mod render;
mod sample;
mod sets;

use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use taskgraph::{ContextId, Piece};

use crate::analysis::{Analysis, Divided, Graph, Moment, Order, Reads, Share};
use crate::size::{Size, Sizes};

pub use geometry::{Geometries, Geometry, Ways};
pub(crate) use line_ids::LineIds;
pub(crate) use lookups::{LineSink, Lines, LookUps};
pub use model::CacheModel;
pub use recency::RecencyGroups;
pub use sample::Sample;
pub use sets::SetForest;

/// Options of `cache`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Cache sizes: 32K, a list 32K,1M or every doubling of a range 1K..256M
    #[arg(long, value_name = "SIZES", default_value = "1K..256M")]
    pub sizes: Sizes,
    /// Lines per set: numbers and `full`
    #[arg(
        long,
        value_name = "WAYS",
        value_delimiter = ',',
        default_value = "1,2,4,8,16,full"
    )]
    pub ways: Vec<Ways>,
    /// Bytes of a cache line
    #[arg(long, value_name = "BYTES", default_value = "64")]
    pub line: Size,
    /// One cache that all contexts share (the default)
    #[arg(long, conflicts_with = "private")]
    pub shared: bool,
    /// A cache for each context; the counts are the sums
    #[arg(long)]
    pub private: bool,
    /// A preview from this share of the lines, 0.001 to 1: estimates, for fully associative caches only
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
        #[derive(clap::Parser)]
        struct Bare {
            #[command(flatten)]
            options: Options,
        }
        <Bare as clap::Parser>::parse_from(["cache"]).options
    }
}

#[derive(Debug)]
pub struct Cache {
    geometries: Geometries,
    private: bool,
    sample: Sample,
    /// Accesses of the run.
    accesses: u64,
}

/// The caches of one shard, or only their counts once the shard is sealed.
#[derive(Debug)]
pub enum Shard {
    /// The shard takes accesses.
    Model(Box<Feed>),
    /// What was counted.
    Counts(Counts),
}

/// What the caches of a shard counted.
#[derive(Debug, Serialize, Deserialize)]
pub struct Counts {
    accesses: u64,
    /// First accesses of lines, if they are known.
    cold: Option<u64>,
    /// Misses of each geometry, and by how many of them an estimate may be off.
    misses: Vec<u64>,
    error: f64,
}

/// A model, and the reader of tasks that feeds it.
#[derive(Debug)]
pub struct Feed {
    model: CacheModel,
    look_ups: LookUps,
}

/// Miss curves.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Bytes of a line.
    pub line: u64,
    /// Whether each context has its own cache.
    pub private: bool,
    /// The share of the lines from which the numbers are estimated; absent if they are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<f64>,
    /// By how much an estimated miss rate may be off, in caches that hold at least 16 of the sampled lines.
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

/// Misses by cause (Hill and Smith, "Evaluating associativity in CPU caches", 1989); they add up to the misses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Split {
    /// First look-ups of a line.
    pub cold: u64,
    /// Further misses of a fully associative cache of this size.
    pub capacity: u64,
    /// Misses that the sets add. The number is negative if the sets keep lines that least-recently-used replacement
    /// over the whole cache would have dropped.
    pub conflict: i64,
}

impl Split {
    /// Computes the causes from the misses of the cache, those of the fully associative cache of its size, and the
    /// first look-ups.
    fn new(misses: u64, full: u64, cold: u64) -> Self {
        Self {
            cold,
            capacity: full - cold,
            conflict: misses.cast_signed() - full.cast_signed(),
        }
    }
}

impl Analysis for Cache {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "Miss curves of caches of many sizes and ways, in one pass";
    const ORDER: Order = Order::Topological;
    const READS: Reads = Reads::Pieces;
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
        })
    }

    fn order(&self) -> Order {
        if self.private {
            Order::PerContext
        } else {
            Self::ORDER
        }
    }

    fn shard(&self, _: Option<ContextId>) -> Shard {
        let (geometries, sample) = (&self.geometries, self.sample);
        let shift = geometries.line_shift;
        Shard::Model(Box::new(Feed {
            model: CacheModel::of(geometries, sample),
            look_ups: LookUps::new(Lines { shift, sample }),
        }))
    }

    fn piece(&self, shard: &mut Shard, _: &Moment, piece: &Piece<'_>) -> Result<()> {
        if let Shard::Model(feed) = shard {
            feed.look_ups.piece(piece, &mut feed.model);
        }
        Ok(())
    }

    fn seal(&self, shard: &mut Shard) {
        if let Shard::Model(feed) = shard {
            let Feed { model, look_ups } = &mut **feed;
            look_ups.flush(model);
            let all = &self.geometries.all;
            *shard = Shard::Counts(Counts {
                accesses: model.looked_up(0),
                cold: model.cold(),
                misses: all.iter().map(|geometry| model.misses(geometry)).collect(),
                error: model.error(&self.geometries),
            });
        }
    }

    fn finish(self, graph: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let counts = self.found(graph, shards)?;
        self.join(graph, vec![counts])
    }
}

impl Divided for Cache {
    type Found = Counts;

    /// The caches are divided, neighbours together because they share work, and each worker reads all of the graph.
    fn only(&mut self, share: Share) -> Result<()> {
        ensure!(
            self.sample.rate().is_none(),
            "--sample makes a preview, which is small enough for one worker: leave it out"
        );
        let all = &mut self.geometries.all;
        let begin = |index: u32| all.len() * index as usize / share.of as usize;
        *all = all[begin(share.index)..begin(share.index + 1)].to_vec();
        Ok(())
    }

    fn found(&self, _: &Graph, shards: Vec<Shard>) -> Result<Counts> {
        let mut sum = Counts {
            accesses: 0,
            cold: Some(0),
            misses: vec![0; self.geometries.all.len()],
            error: 0.0,
        };
        for shard in &shards {
            if let Shard::Counts(own) = shard {
                sum.accesses += own.accesses;
                sum.cold = sum.cold.zip(own.cold).map(|(sum, first)| sum + first);
                let sums = sum.misses.iter_mut().zip(&own.misses);
                sums.for_each(|(sum, missed)| *sum += missed);
                sum.error += own.error;
            }
        }
        Ok(sum)
    }

    fn join(self, _: &Graph, parts: Vec<Counts>) -> Result<Report> {
        let rate = self.sample.rate();
        // What a sample counts are only further lines of accesses.
        let looked_up = parts.iter().map(|part| part.accesses).max().unwrap_or(0);
        let accesses = rate.map_or(0, |_| self.accesses) + looked_up;
        let cold = parts.iter().filter_map(|part| part.cold).max();
        let error = parts.iter().map(|part| part.error).fold(0.0, f64::max);
        let misses: Vec<u64> = parts.into_iter().flat_map(|part| part.misses).collect();
        ensure!(
            misses.len() == self.geometries.all.len(),
            "the shares have {} caches, and there are {}",
            misses.len(),
            self.geometries.all.len()
        );
        let all = &self.geometries.all;
        let full = |size| {
            let found = all
                .iter()
                .zip(&misses)
                .find(|(geometry, _)| geometry.ways == Ways::Full && geometry.size == size);
            found.map(|(_, &misses)| misses)
        };
        let point = |(geometry, &misses): (&Geometry, &u64)| Point {
            size: geometry.size,
            ways: geometry.ways,
            accesses,
            misses,
            split: cold
                .zip(full(geometry.size))
                .map(|(cold, full)| Split::new(misses, full, cold)),
        };
        let points = all.iter().zip(&misses).map(point).collect();
        Ok(Report {
            line: 1 << self.geometries.line_shift,
            private: self.private,
            sample: rate,
            error: rate.map(|_| error / accesses.max(1) as f64),
            points,
        })
    }
}
