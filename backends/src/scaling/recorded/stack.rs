//! `stack`: the speedup stack of a recorded run's parallel phases. A model gives the cache component: miss curves at
//! the whole shared cache and at each thread's share of it (speedup stacks, section 6.2, with a model in place of the
//! Pirate).

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use taskgraph::{ContextId, Piece};

use super::{PhaseSums, Phases};
use crate::analysis::{Analysis, Change, Graph, Moment, Order, Reads, end_of};
use crate::cache::{self, Cache, Ways};
use crate::scaling::ratio::over;
use crate::size::{Size, Sizes};
use crate::view::chart::Part;
use crate::view::units::{bytes, count, plural};
use crate::view::{Axis, Cell, Chart, Render, Table, Unit, View};

/// Options of `stack`.
#[derive(Clone, Debug, clap::Args)]
#[group(skip)]
pub struct Options {
    /// Size of the shared cache
    #[arg(long, value_name = "SIZE", default_value = "32M")]
    pub llc: Size,
    /// Its ways
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub ways: u32,
    /// What a miss costs, ns
    #[arg(long, value_name = "NS", default_value_t = 80, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub penalty: u64,
    /// Processors the run had [default: as many as contexts ran at one time for 1% of the run]
    #[arg(long, value_name = "P", value_parser = clap::value_parser!(u32).range(1..=65536))]
    pub processors: Option<u32>,
}

/// The analysis: the phases first, then the caches, whose sizes depend on how many contexts ran.
#[derive(Debug)]
pub struct Stack {
    options: Options,
    sums: PhaseSums,
    phases: Phases,
    processors: u32,
    caches: Option<Caches>,
}

/// The whole shared cache and a thread's share of it.
#[derive(Debug)]
struct Caches {
    model: Cache,
    /// Their sizes; if the share is no valid number of sets, the next smaller one counts.
    whole: u64,
    share: u64,
}

/// The stack of all parallel phases together. The components and `measured` add up to `processors`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// P.
    pub processors: u32,
    /// Parallel phases.
    pub phases: u64,
    /// Total length of the parallel phases, ns.
    pub parallel_ns: u64,
    /// Unequal shares of work.
    pub share_of_work: f64,
    /// Contention for the shared cache, by the model.
    pub cache: f64,
    /// Locks, barriers and load imbalance.
    pub synchronization: f64,
    /// Running time without the modelled misses that sharing the cache adds, over the length of the phases.
    pub measured: f64,
    /// Size of the shared cache.
    pub llc: u64,
    /// Misses with the whole cache for each thread, and with its share.
    pub misses: (u64, u64),
    /// Cost of a miss, ns.
    pub penalty_ns: u64,
}

impl Analysis for Stack {
    const NAME: &'static str = "stack";
    const ABOUT: &'static str =
        "Speedup stack of the parallel phases, contention for the cache by a model";
    const ORDER: Order = Order::PerExecutor;
    const READS: Reads = Reads::Pieces;
    const NESTS: bool = true;
    const CHANGES: bool = true;
    const NEEDS_ACCESSES: bool = true;
    type Config = Options;
    type Shard = Option<cache::Shard>;
    type Report = Report;

    fn new(options: Options, _: &Graph) -> Result<Self> {
        Ok(Self {
            options,
            sums: PhaseSums::default(),
            phases: Phases::default(),
            processors: 1,
            caches: None,
        })
    }

    fn change(&mut self, change: &Change<'_>) -> Result<()> {
        self.sums.change(change);
        Ok(())
    }

    fn prepare(&mut self, graph: &Graph) -> Result<()> {
        let given = self.options.processors;
        self.phases = std::mem::take(&mut self.sums).finish(end_of(graph), given);
        self.processors = given.unwrap_or(self.phases.peak).max(1);
        if self.phases.count == 0 {
            bail!(
                "no parallel phase was recorded: one context at a time; there is no speedup to explain"
            );
        }
        self.caches = Some(Caches::new(&self.options, self.processors, graph)?);
        Ok(())
    }

    fn shard(&self, context: Option<ContextId>) -> Self::Shard {
        self.caches
            .as_ref()
            .map(|caches| caches.model.shard(context))
    }

    fn piece(&self, shard: &mut Self::Shard, at: &Moment, piece: &Piece<'_>) -> Result<()> {
        match (&self.caches, shard) {
            (Some(caches), Some(shard)) => caches.model.piece(shard, at, piece),
            _ => Ok(()),
        }
    }

    fn seal(&self, shard: &mut Self::Shard) {
        if let (Some(caches), Some(shard)) = (&self.caches, shard) {
            caches.model.seal(shard);
        }
    }

    fn finish(self, graph: &Graph, shards: Vec<Self::Shard>) -> Result<Report> {
        let (phases, p, penalty) = (self.phases, self.processors, self.options.penalty);
        let caches = self.caches.context("the pass was not prepared")?;
        let misses = caches.misses(graph, shards.into_iter().flatten().collect())?;
        let running = phases.parallel.times[contech_observation::State::Running as usize] as f64;
        // All accesses count, because the program's accesses outside of phases are few if phases are worth a stack.
        let added = (misses.1.saturating_sub(misses.0) * penalty) as f64;
        // The misses cannot cost more than the running time; otherwise the penalty is too high for this machine.
        let alone = (running - added).max(running / f64::from(p));
        let slowest = phases.slowest_ns as f64;
        let shares = over(running, slowest);
        let (after_cache, measured) = (
            over(alone, slowest),
            over(alone, phases.parallel.wall_ns as f64),
        );
        Ok(Report {
            processors: p,
            phases: phases.count,
            parallel_ns: phases.parallel.wall_ns,
            share_of_work: f64::from(p) - shares,
            cache: shares - after_cache,
            synchronization: after_cache - measured,
            measured,
            llc: self.options.llc.bytes(),
            misses,
            penalty_ns: penalty,
        })
    }
}

impl Caches {
    fn new(options: &Options, processors: u32, graph: &Graph) -> Result<Self> {
        let line = 64;
        let sets = (options.llc.bytes() / line / u64::from(options.ways)).max(1);
        let set_bytes = line * u64::from(options.ways);
        let whole = (1 << sets.ilog2()) * set_bytes;
        let share = (1 << (sets / u64::from(processors)).max(1).ilog2()) * set_bytes;
        let sizes = if share == whole {
            Size::text(whole)
        } else {
            format!("{},{}", Size::text(share), Size::text(whole))
        };
        let ways = options.ways.to_string().parse::<Ways>();
        let options = cache::Options {
            sizes: sizes.parse::<Sizes>().map_err(anyhow::Error::msg)?,
            ways: vec![ways.map_err(anyhow::Error::msg)?],
            private: true,
            ..cache::Options::default()
        };
        Ok(Self {
            model: Cache::new(options, graph)?,
            whole,
            share,
        })
    }

    /// Misses of a cache for each executor: of the whole, and of a share.
    fn misses(self, graph: &Graph, shards: Vec<cache::Shard>) -> Result<(u64, u64)> {
        let report = self.model.finish(graph, shards)?;
        let at = |size: u64| {
            let point = report.points.iter().find(|point| point.size == size);
            point.map_or(0, |point| point.misses)
        };
        Ok((at(self.whole), at(self.share)))
    }
}

impl Render for Report {
    fn view(&self) -> View {
        let rows = [
            ("measured", "running", self.measured),
            ("synchronization", "lock", self.synchronization),
            ("cache", "condition", self.cache),
            ("shares of work", "join", self.share_of_work),
        ];
        let table = Table::new(&[("component", "component"), ("speedup", "speedup")])
            .rows(rows.map(|(name, _, part)| [Cell::from(name), Cell::Number(part)]));
        let part = |(name, color, value): (&str, &str, f64)| Part {
            name: name.to_owned(),
            color: color.to_owned(),
            values: vec![value],
        };
        View::default()
            .heading("Speedup stack")
            .line(format!(
                "{} together, on {}; the parts add up to {}.",
                plural(self.phases, "parallel phase"),
                plural(self.processors.into(), "processor"),
                self.processors
            ))
            .line(format!(
                "Cache is a model: {} misses if each thread had all {} of the shared cache, {} if a share of it, {} ns \
                 each. Contention for memory is not in a recording: contech scale --stack measures it.",
                count(self.misses.0),
                bytes(self.llc),
                count(self.misses.1),
                self.penalty_ns
            ))
            .table(table)
            .chart(Chart::Stacks {
                title: "Speedup stack of the recorded run".to_owned(),
                x: "processors".to_owned(),
                y: Axis::new("speedup", Unit::Number),
                names: vec![self.processors.to_string()],
                parts: rows.map(part).to_vec(),
            })
    }
}
