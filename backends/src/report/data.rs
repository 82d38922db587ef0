//! The data of the page: results of the analyses cut down to what can be drawn.

use anyhow::Result;
use serde::Serialize;

use super::Choices;
use super::findings::{Finding, Results, find};
use super::section::{Section, default_config, run_default, run_if_recorded};
use crate::analysis::{self, Analysis, Graph, run};
use crate::blocks::{self, Blocks};
use crate::cache;
use crate::critpath::{self, CritPath};
use crate::hierarchy::Hierarchy;
use crate::memuse::MemUse;
use crate::misses::Misses;
use crate::parallelism::{self, Cause, Parallelism, WaitTime};
use crate::races::Races;
use crate::scaling::Measured;
use crate::scaling::recorded::Factors;
use crate::sharing::Sharing;
use crate::stats::{self, Stats};
use crate::view::page::cut;
use crate::workspan::{self, WorkSpan};

/// Blocks in the scatter plot, the most executed ones.
const SCATTERED: usize = 1500;
/// Rows of the heat map.
const HEATED: usize = 240;
/// Functions in the table.
const FUNCTIONS: usize = 40;

/// Everything the page shows.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// Sentences, the most important first.
    pub findings: Vec<Finding>,
    /// The run in one sentence.
    pub headline: String,
    /// What limits the results.
    pub warnings: Vec<String>,
    /// Facts about the recording.
    pub run: taskgraph::RunMeta,
    /// Counts.
    pub stats: stats::Report,
    /// Plot of parallelism over time.
    pub parallelism: ParallelismPlot,
    /// Plots of block executions.
    pub blocks: BlocksPlot,
    /// Plot of miss curves.
    pub cache: cache::Report,
    /// The other analyses, in their own words.
    pub sections: Vec<Section>,
}

/// Parallelism over time, column by column: stretch `i` starts at `t_ns[i]` and ends where the next one starts.
#[derive(Clone, Debug, Serialize)]
pub struct ParallelismPlot {
    duration_ns: u64,
    average: f64,
    peak: u32,
    potential_average: f64,
    work_ns: u64,
    span_ns: u64,
    t_ns: Vec<u64>,
    min: Vec<u32>,
    max: Vec<u32>,
    average_running: Vec<f64>,
    /// Average waiting contexts, for each cause that occurs.
    waiting: Vec<WaitSeries>,
    levels: Vec<parallelism::LevelTime>,
    waits: Vec<WaitTime>,
    places: Vec<parallelism::WaitPlace>,
    /// As-soon-as-possible schedule: start of stretch, average tasks at once.
    potential: Vec<(u64, f64)>,
}

#[derive(Clone, Debug, Serialize)]
struct WaitSeries {
    cause: Cause,
    average: Vec<f64>,
}

/// Block executions by running contexts.
#[derive(Clone, Debug, Serialize)]
pub struct BlocksPlot {
    max_running: u32,
    executions: u64,
    /// Executed blocks, drawn or not.
    total: usize,
    /// The first of these rows have `levels` and are rows of the heat map.
    rows: Vec<blocks::BlockRow>,
    functions: Vec<blocks::FunctionRow>,
}

impl PageData {
    /// Average potential parallelism.
    #[must_use]
    pub fn potential_average(&self) -> f64 {
        self.parallelism.potential_average
    }

    /// Runs the analyses, as many at once as there are processors. `progress` is told what begins.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn collect(
        graph: &Graph,
        choices: impl Into<Choices>,
        progress: impl Fn(&'static str) + Sync,
    ) -> Result<Self> {
        let (mut curves, mut races, mut interleaved, mut memuse, mut rest) =
            (None, None, None, None, None);
        let progress = &progress;
        let Choices { cache, measured } = choices.into();
        rayon::scope(|scope| {
            // Those that take longest are begun first.
            scope.spawn(|_| {
                progress("cache");
                curves = Some(super::curves::curves(graph, cache));
            });
            scope.spawn(|_| {
                progress("sharing and hierarchy");
                interleaved = Some(super::interleaved::sharing_and_hierarchy(graph));
            });
            scope.spawn(|_| {
                progress("races");
                races = Some(run_if_recorded::<Races>(graph));
            });
            scope.spawn(|_| {
                progress("memory");
                memuse = Some(run_default::<MemUse>(graph));
            });
            scope.spawn(|_| {
                progress("parallelism");
                rest = Some(Rest::collect(graph, measured));
            });
        });
        let (cache, misses) = done(curves)?;
        let (sharing, hierarchy) = done(interleaved)?;
        let races = done(races)?;
        let memuse = done(memuse)?;
        let Rest {
            stats,
            parallelism,
            blocks,
            critpath,
            workspan,
            factors,
        } = done(rest)?;
        let results = Results {
            parallelism: &parallelism,
            factors: &factors,
            blocks: &blocks,
            cache: &cache,
            critpath: &critpath,
            workspan: &workspan,
            misses: (graph.summary().accesses > 0).then_some(&misses),
            sharing: sharing.as_ref().ok(),
            races: races.as_ref().ok(),
        };
        Ok(Self {
            findings: find(&results),
            sections: vec![
                Section::of::<CritPath>("Critical path", &critpath),
                Section::of::<WorkSpan>("Call sites", &workspan),
                Section::of::<Factors>("Factors", &factors),
                Section::of::<Misses>("Misses", &misses),
                Section::of_either::<Hierarchy>("Hierarchy", &hierarchy),
                Section::of_either::<Sharing>("Sharing", &sharing),
                Section::of_either::<Races>("Races", &races),
                Section::of::<MemUse>("Memory", &memuse),
            ],
            headline: parallelism.sentence(),
            warnings: analysis::warnings(graph),
            run: graph.meta().clone(),
            stats,
            parallelism: parallelism.into(),
            blocks: blocks.into(),
            cache,
        })
    }
}

/// The results that look at tasks and blocks, not at accesses.
struct Rest {
    stats: stats::Report,
    parallelism: parallelism::Report,
    blocks: blocks::Report,
    critpath: critpath::Report,
    workspan: workspan::Report,
    factors: <Factors as Analysis>::Report,
}

impl Rest {
    fn collect(graph: &Graph, measured: Option<Measured>) -> Result<Self> {
        let workspan = workspan::Options {
            measured,
            ..default_config::<WorkSpan>()?
        };
        Ok(Self {
            stats: run::<Stats>(stats::Options {}, graph)?,
            parallelism: run::<Parallelism>(parallelism::Options::default(), graph)?,
            blocks: run::<Blocks>(blocks::Options::default(), graph)?,
            critpath: run_default::<CritPath>(graph)?,
            workspan: run::<WorkSpan>(workspan, graph)?,
            factors: run_default::<Factors>(graph)?,
        })
    }
}

/// The result of a part that the scope has run.
fn done<T>(part: Option<Result<T>>) -> Result<T> {
    part.unwrap_or_else(|| Err(anyhow::anyhow!("an analysis ended without a result")))
}

impl From<parallelism::Report> for ParallelismPlot {
    fn from(report: parallelism::Report) -> Self {
        let stretches = &report.stretches;
        let series = |wait: &WaitTime| {
            let index = parallelism::State::Waiting(wait.cause)
                .index()
                .unwrap_or_default();
            let average = |stretch: &parallelism::Bucket| {
                short(crate::view::units::ratio(
                    stretch.waiting_ns[index],
                    stretch.length_ns,
                ))
            };
            WaitSeries {
                cause: wait.cause,
                average: stretches.iter().map(average).collect(),
            }
        };
        Self {
            duration_ns: report.duration_ns,
            average: report.average,
            peak: report.peak,
            potential_average: report.potential_average,
            work_ns: report.work_ns,
            span_ns: report.span_ns,
            t_ns: stretches.iter().map(|stretch| stretch.t_ns).collect(),
            min: stretches.iter().map(|stretch| stretch.min).collect(),
            max: stretches.iter().map(|stretch| stretch.max).collect(),
            average_running: stretches
                .iter()
                .map(|stretch| short(stretch.average()))
                .collect(),
            waiting: report.waits.iter().map(series).collect(),
            levels: report.levels,
            waits: report.waits,
            places: report.places.into_iter().take(20).collect(),
            potential: report
                .potential
                .into_iter()
                .map(|(t, average)| (t, short(average)))
                .collect(),
        }
    }
}

impl From<blocks::Report> for BlocksPlot {
    fn from(report: blocks::Report) -> Self {
        let total = report.blocks.len();
        let mut rows: Vec<_> = report.blocks.into_iter().take(SCATTERED).collect();
        rows.iter_mut()
            .skip(HEATED)
            .for_each(|row| row.levels.clear());
        rows.iter_mut()
            .for_each(|row| row.place.function = cut(&row.place.function));
        let mut functions: Vec<_> = report.functions.into_iter().take(FUNCTIONS).collect();
        functions.iter_mut().for_each(|row| {
            row.levels.clear();
            row.place.function = cut(&row.place.function);
        });
        Self {
            max_running: report.max_running,
            executions: report.executions,
            total,
            rows,
            functions,
        }
    }
}

/// Three decimals: enough to draw, short to embed.
fn short(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
