//! `cache`: miss curves over sizes and ways (contech.txt, section 5.3 and Figure 9), all from one pass.
//!
//! The caches see every access of the graph: contexts interleave in the breadth-first order of tasks (section 4.2), an
//! access that spans lines looks each of them up, and a bulk copy touches every line it reads and writes. Replacement
//! is least recently used, exactly. `--private` gives each context caches of its own, without coherence between them.

mod geometry;
mod model;
mod recency;
mod render;
mod sets;

use anyhow::Result;
use serde::Serialize;
use taskgraph::ContextId;

use crate::analysis::{Analysis, Graph, Order, Task};
use crate::size::{Size, Sizes};

pub use geometry::{Geometries, Geometry, Ways};
pub use model::CacheModel;
pub use recency::RecencyStack;
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
}

impl Default for Options {
    /// What the command line has without options.
    fn default() -> Self {
        #[derive(clap::Parser)]
        struct Bare {
            #[command(flatten)]
            options: Options,
        }
        <Bare as clap::Parser>::parse_from(["cache"]).options
    }
}

/// The analysis.
#[derive(Debug)]
pub struct Cache {
    geometries: Geometries,
    private: bool,
}

/// The caches of one shard, or their counts once the shard is sealed.
#[derive(Debug)]
pub enum Shard {
    /// Still fed.
    Model(Box<CacheModel>),
    /// Accesses, and misses per geometry.
    Counts(u64, Vec<u64>),
}

/// Miss curves.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Bytes of a line.
    pub line: u64,
    /// Whether each context has its own cache.
    pub private: bool,
    /// Every cache modelled, by ways, then size.
    pub points: Vec<Point>,
}

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Point {
    /// Bytes.
    pub size: u64,
    /// Lines per set.
    pub ways: Ways,
    /// Lines looked up.
    pub accesses: u64,
    /// Lines not found.
    pub misses: u64,
}

impl Analysis for Cache {
    const NAME: &'static str = "cache";
    const ABOUT: &'static str = "Miss curves of caches of many sizes and ways, in one pass";
    const ORDER: Order = Order::Topological;
    type Config = Options;
    type Shard = Shard;
    type Report = Report;

    fn new(options: Options, _: &Graph) -> Result<Self> {
        let geometries = Geometries::new(&options.sizes, &options.ways, options.line)?;
        Ok(Self {
            geometries,
            private: options.private,
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
        Shard::Model(Box::new(CacheModel::new(&self.geometries)))
    }

    fn task(&self, shard: &mut Shard, task: &Task<'_>) -> Result<()> {
        if let Shard::Model(model) = shard {
            task.for_each_access(|access| model.access(access.addr, access.size))?;
        }
        Ok(())
    }

    fn seal(&self, shard: &mut Shard) {
        if let Shard::Model(model) = shard {
            let misses = self
                .geometries
                .all
                .iter()
                .map(|geometry| model.misses(geometry))
                .collect();
            *shard = Shard::Counts(model.accesses(), misses);
        }
    }

    fn finish(self, _: &Graph, shards: Vec<Shard>) -> Result<Report> {
        let mut accesses = 0;
        let mut misses = vec![0; self.geometries.all.len()];
        for shard in &shards {
            if let Shard::Counts(seen, missed) = shard {
                accesses += seen;
                misses
                    .iter_mut()
                    .zip(missed)
                    .for_each(|(sum, missed)| *sum += missed);
            }
        }
        let point = |(geometry, misses): (&Geometry, u64)| Point {
            size: geometry.size,
            ways: geometry.ways,
            accesses,
            misses,
        };
        let points = self.geometries.all.iter().zip(misses).map(point).collect();
        Ok(Report {
            line: 1 << self.geometries.line_shift,
            private: self.private,
            points,
        })
    }
}
