//! The data of the page: results of the analyses cut down to what can be drawn.

use anyhow::Result;
use serde::Serialize;

use super::Choices;
use super::findings::{Finding, Results, find, first};
use super::outcomes::Outcomes;
use super::section::Section;
use crate::analysis::{self, Graph, Reads};
use crate::parallelism::{self, Cause, WaitTime};
use crate::view::page::cut;
use crate::{blocks, cache, stats};

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

    /// Runs the analyses; `progress` is told what begins.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn collect(
        graph: &Graph,
        choices: impl Into<Choices>,
        progress: impl Fn(&'static str) + Sync,
    ) -> Result<Self> {
        Self::collect_telling(graph, choices, progress, |_| {})
    }

    /// The same; what order and times alone say is told as soon as it is known.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn collect_telling(
        graph: &Graph,
        choices: impl Into<Choices>,
        progress: impl Fn(&'static str) + Sync,
        tell: impl FnOnce(&First),
    ) -> Result<Self> {
        let choices = choices.into();
        progress("order and times");
        let mut all = Outcomes::of(graph, &choices, |reads| reads == Reads::Tasks)?;
        let parallelism = all.have::<parallelism::Report>()?;
        tell(&First {
            headline: parallelism.sentence(),
            potential: parallelism.potential_average,
            findings: first(parallelism),
        });
        progress("code and accesses");
        all.join(Outcomes::of(graph, &choices, |reads| {
            reads != Reads::Tasks
        })?);
        let results = Results {
            parallelism: all.have()?,
            factors: all.have()?,
            blocks: all.have()?,
            cache: all.have()?,
            critpath: all.have()?,
            workspan: all.have()?,
            misses: all.get().filter(|_| graph.summary().accesses > 0),
            sharing: all.get(),
            races: all.get(),
        };
        Ok(Self {
            findings: find(&results),
            sections: all.sections(),
            headline: results.parallelism.sentence(),
            warnings: analysis::warnings(graph),
            run: graph.meta().clone(),
            stats: all.have::<stats::Report>()?.clone(),
            parallelism: results.parallelism.clone().into(),
            blocks: results.blocks.clone().into(),
            cache: results.cache.clone(),
        })
    }
}

/// What is known of a run before its code and accesses are looked at.
#[derive(Clone, Debug)]
pub struct First {
    /// The run in one sentence.
    pub headline: String,
    /// Average potential parallelism.
    pub potential: f64,
    /// Sentences, the most important first.
    pub findings: Vec<Finding>,
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
