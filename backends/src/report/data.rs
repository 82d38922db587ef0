//! The data of the page: results of the analyses, reduced to what can be drawn.

use anyhow::{Context, Result};
use serde::Serialize;

use super::Choices;
use super::findings::{Finding, Results, find};
use super::lanes;
use super::outcomes::Outcomes;
use super::source::Source;
use crate::account::{self, Account};
use crate::analysis::{self, Analysis, Graph, State, Windows};
use crate::misses::Misses;
use crate::page::Section;
use crate::parallelism::{self, WaitTime};
use crate::recorded::{self, RecordedFactors};
use crate::view::page::label;
use crate::view::{Chart, Render};
use crate::{blocks, cache, critpath, misses, stats};

/// The most blocks in the scatter plot; the most executed ones are kept.
const SCATTERED: usize = 1500;
/// The most rows of the heat map.
const HEATED: usize = 240;
/// The most functions in the table.
const FUNCTIONS: usize = 40;

/// Everything the page shows.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// The findings, the most important first.
    pub findings: Vec<Finding>,
    /// The run in one sentence.
    pub headline: String,
    /// Where the processors' time went.
    #[serde(skip)]
    pub account: account::Report,
    /// What limits the results.
    pub warnings: Vec<String>,
    /// Which of them are because the models did not look at all of the run.
    #[serde(skip)]
    pub estimates: Vec<String>,
    /// Facts about the recording.
    pub run: taskgraph::RunMeta,
    pub stats: stats::Report,
    pub parallelism: ParallelismPlot,
    pub blocks: BlocksPlot,
    /// The miss curves.
    pub cache: cache::Report,
    /// The views of the other analyses.
    pub sections: Vec<Section>,
}

/// Parallelism over time, column by column: stretch `i` starts at `t_ns[i]` and ends where the next
/// one starts.
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
    /// What each executor did, and the critical path.
    lanes: Chart,
    levels: Vec<parallelism::LevelTime>,
    waits: Vec<WaitTime>,
    /// The as-soon-as-possible schedule: start of each stretch, and the average number of tasks
    /// that run at once.
    potential: Vec<(u64, f64)>,
}

#[derive(Clone, Debug, Serialize)]
struct WaitSeries {
    cause: &'static str,
    average: Vec<f64>,
}

/// Block executions by running contexts.
#[derive(Clone, Debug, Serialize)]
pub struct BlocksPlot {
    max_running: u32,
    executions: u64,
    /// Number of executed blocks, drawn or not.
    total: usize,
    /// The most executed blocks. The first of them have `levels`, and are the rows of the heat map.
    rows: Vec<blocks::BlockRow>,
    functions: Vec<blocks::FunctionRow>,
}

impl PageData {
    /// Runs the analyses; `progress` is called with the name of each step that begins.
    ///
    /// # Errors
    /// When the graph cannot be read.
    pub fn collect(
        graph: &Graph,
        choices: &Choices,
        progress: impl Fn(&'static str) + Sync,
    ) -> Result<Self> {
        Self::collect_telling(graph, choices, progress, false, |_| Ok(Vec::new()))
    }

    /// The same; `tell` is called with the answer and says what other runs of the program lost.
    /// Where the answer comes `first`, what explains it is begun after that.
    pub(crate) fn collect_telling(
        graph: &Graph,
        choices: &Choices,
        progress: impl Fn(&'static str) + Sync,
        first: bool,
        tell: impl FnOnce(&account::Report) -> Result<Vec<account::Report>>,
    ) -> Result<Self> {
        let answer = || {
            progress("order and times");
            Outcomes::of(graph, choices, true)
        };
        let rest = || {
            progress("code and accesses");
            Outcomes::of(graph, choices, false)
        };
        let (answer, beside) = if first {
            (answer(), None)
        } else {
            let (answer, beside) = rayon::join(answer, rest);
            (answer, Some(beside))
        };
        let mut all = answer?;
        let others = tell(all.have()?)?;
        all.join(beside.unwrap_or_else(rest)?);
        let mut sections = std::mem::take(&mut all.sections);
        let has_accesses = graph.summary().accesses > 0;
        let mut account = all.have::<account::Report>()?.clone();
        let misses = all.get().filter(|_| has_accesses);
        account.estimate(graph.info(), misses, all.get(), all.get());
        account.repeated(&others);
        let results = Results {
            account: &account,
            parallelism: all.have()?,
            workspan: all.have()?,
            races: all.get(),
            unrecorded: graph.meta().unrecorded,
        };
        // The account's section is replaced, because the account now includes what the other
        // analyses know.
        let own = sections.iter_mut().find(|section| section.id == Account::NAME);
        if let Some(own) = own {
            *own = Section::of(own.id, own.menu, &account.view());
        }
        let at = sections.iter().position(|section| section.id == Account::NAME);
        let source = Source::of(graph, &account, all.have()?, all.get());
        if let Some(lines) = source.section() {
            sections.insert(at.map_or(0, |at| at + 1), lines);
        }
        let factors = recorded::factors(&account).view();
        let factors = Section::of(RecordedFactors::NAME, "Factors", &factors);
        let at = sections.iter().position(|section| section.id == Misses::NAME);
        sections.insert(at.unwrap_or(sections.len()), factors);
        let mut warnings = analysis::warnings(graph);
        let misses = all.have::<misses::Report>()?;
        let curves = misses.curves.clone().context("misses came without curves")?;
        let windows = choices.windows(graph).map(|windows| {
            let who = "Races and sharing were looked for in";
            Windows::sentence(windows.every(), who) + " A race outside of them is not found."
        });
        let estimates: Vec<String> = curves.estimated().into_iter().chain(windows).collect();
        warnings.extend(estimates.iter().filter(|_| has_accesses).cloned());
        let mut findings = find(&results);
        for finding in &mut findings {
            finding.code = source.excerpts(&finding.places);
        }
        let path = all.get::<critpath::Report>();
        let path = path.map_or(&[][..], |path| &path.stretches);
        let seen = results.parallelism;
        let lanes = lanes::chart(graph, &seen.lanes, path, seen.duration_ns)?;
        Ok(Self {
            findings,
            sections,
            headline: account.sentence(),
            warnings,
            estimates,
            run: graph.meta().clone(),
            stats: all.have::<stats::Report>()?.clone(),
            parallelism: ParallelismPlot::new(results.parallelism.clone(), lanes),
            blocks: all.have::<blocks::Report>()?.clone().into(),
            cache: curves,
            account,
        })
    }
}

impl ParallelismPlot {
    fn new(report: parallelism::Report, lanes: Chart) -> Self {
        let stretches = &report.stretches;
        let series = |wait: &WaitTime| {
            let index = State::Waiting(wait.cause).index().unwrap_or_default();
            let average = |stretch: &parallelism::Bucket| {
                short(crate::view::units::ratio(stretch.waiting_ns[index], stretch.length_ns))
            };
            WaitSeries {
                cause: wait.cause.name(),
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
            average_running: stretches.iter().map(|stretch| short(stretch.average())).collect(),
            waiting: report.waits.iter().map(series).collect(),
            lanes,
            levels: report.levels,
            waits: report.waits,
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
        rows.iter_mut().skip(HEATED).for_each(|row| row.levels.clear());
        rows.iter_mut().for_each(|row| row.place.function = label(&row.place.function));
        let mut functions: Vec<_> = report.functions.into_iter().take(FUNCTIONS).collect();
        functions.iter_mut().for_each(|row| {
            row.levels.clear();
            row.place.function = label(&row.place.function);
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

/// Rounds to three decimals, which is enough to draw and short to embed.
fn short(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
