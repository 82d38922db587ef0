//! The data of the page: results of the analyses, reduced to what can be drawn.

use anyhow::{Context, Result};
use serde::Serialize;
use serde_json::{Value, json};

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
    pub parallelism: Value,
    pub blocks: Value,
    /// The miss curves.
    pub cache: cache::Report,
    /// The views of the other analyses.
    pub sections: Vec<Section>,
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
        let at = |sections: &[Section], id| {
            let found = sections.iter().position(|section| section.id == id);
            found.with_context(|| format!("the report has no section {id}"))
        };
        let own = at(&sections, Account::NAME)?;
        sections[own] = Section::of(Account::NAME, sections[own].menu, &account.view());
        let source = Source::of(graph, &account, all.have()?, all.get());
        if let Some(lines) = source.section() {
            sections.insert(own + 1, lines);
        }
        let factors = recorded::factors(&account).view();
        let factors = Section::of(RecordedFactors::NAME, "Factors", &factors);
        let misses = at(&sections, Misses::NAME)?;
        sections.insert(misses, factors);
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
            parallelism: parallelism_plot(results.parallelism, &lanes),
            blocks: blocks_plot(all.have()?),
            cache: curves,
            account,
        })
    }
}

/// Parallelism over time, column by column: stretch `i` starts at `t_ns[i]` and ends where the next
/// one starts. With the average of waiting contexts for each cause that occurs, what each executor
/// did with the critical path (`lanes`), and the as-soon-as-possible schedule (`potential`): start
/// of each stretch, and the average number of tasks that run at once.
fn parallelism_plot(report: &parallelism::Report, lanes: &Chart) -> Value {
    let stretches = &report.stretches;
    let waiting = |wait: &WaitTime| {
        let index = State::Waiting(wait.cause).index().unwrap_or_default();
        let average = |stretch: &parallelism::Bucket| {
            short(crate::view::units::ratio(stretch.waiting_ns[index], stretch.length_ns))
        };
        let average: Vec<f64> = stretches.iter().map(average).collect();
        json!({"cause": wait.cause.name(), "average": average})
    };
    let average: Vec<f64> = stretches.iter().map(|one| short(one.average())).collect();
    let potential = report.potential.iter().map(|&(t_ns, average)| (t_ns, short(average)));
    json!({
        "duration_ns": report.duration_ns,
        "average": report.average,
        "peak": report.peak,
        "potential_average": report.potential_average,
        "work_ns": report.work_ns,
        "span_ns": report.span_ns,
        "t_ns": stretches.iter().map(|one| one.t_ns).collect::<Vec<_>>(),
        "min": stretches.iter().map(|one| one.min).collect::<Vec<_>>(),
        "max": stretches.iter().map(|one| one.max).collect::<Vec<_>>(),
        "average_running": average,
        "waiting": report.waits.iter().map(waiting).collect::<Vec<_>>(),
        "lanes": lanes,
        "levels": report.levels,
        "waits": report.waits,
        "potential": potential.collect::<Vec<_>>(),
    })
}

/// Block executions by running contexts. The first of the blocks have `levels`, and are the rows of
/// the heat map; `total` counts those that are not drawn, too.
fn blocks_plot(report: &blocks::Report) -> Value {
    let mut rows: Vec<_> = report.blocks.iter().take(SCATTERED).cloned().collect();
    rows.iter_mut().skip(HEATED).for_each(|row| row.levels.clear());
    rows.iter_mut().for_each(|row| row.place.function = label(&row.place.function));
    let mut functions: Vec<_> = report.functions.iter().take(FUNCTIONS).cloned().collect();
    for row in &mut functions {
        row.levels.clear();
        row.place.function = label(&row.place.function);
    }
    json!({
        "max_running": report.max_running,
        "executions": report.executions,
        "total": report.blocks.len(),
        "rows": rows,
        "functions": functions,
    })
}

/// Rounds to three decimals, which is enough to draw and short to embed.
fn short(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}
