//! The command `contech`. `contech scale` is the [`laboratory`]'s; `contech run` is here: record a program, make its task graph, summarise it and write the report, in one go.
//!
//! The program's own output is left alone: whatever `contech` has to say goes to standard error.

mod interrupt;
mod middle;
mod program;
mod traces;

use std::ffi::OsString;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

use crate::analysis::{self, Graph};
use crate::cache;
use crate::cli::{is_broken_pipe, output, progress};
use crate::laboratory;
use crate::report::{self, Finding, First, PageData};
use crate::view::units::count;

use program::Program;
pub(crate) use program::cannot_start;
use traces::TraceFolder;

/// Findings printed after a run; the report has them all.
const FINDINGS: usize = 4;

#[derive(Debug, Parser)]
#[command(
    name = "contech",
    version,
    about = "Records or measures a program's runs and reports on its parallelism"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a program built with contech-cc: record, graph, summary, report
    Run(RunArguments),
    /// Measures an unmodified program at several numbers of threads and says why it does not scale
    Scale(Box<laboratory::Options>),
}

#[derive(Debug, clap::Args)]
struct RunArguments {
    /// Folder for the results
    #[arg(short, long, value_name = "DIR", default_value = "contech-out")]
    output: PathBuf,
    /// Keep the trace; otherwise it is removed once the graph is made
    #[arg(long)]
    keep_trace: bool,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    program: Vec<OsString>,
}

/// Runs the command line `args`. The exit status is the program's when everything worked, 1 with a message when not.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(args) {
        Ok(arguments) => arguments,
        Err(error) => error.exit(),
    };
    let status = match arguments.command {
        Command::Run(arguments) => run(&arguments),
        Command::Scale(options) => laboratory::scale(&options).map(|()| 0),
    };
    match status {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("contech: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &RunArguments) -> Result<u8> {
    let converter = middle::find()?;
    let folder = TraceFolder::prepare(&arguments.output)?;
    let interrupt = interrupt::install();
    let program = Program::run(&arguments.program, &folder.pattern())?;
    eprintln!("contech: {} {}", program.name(), program.outcome());

    let traces = folder.traces(&program)?;
    let graph_path = arguments.output.join("graph.tg");
    let (trace, graph) = (traces.main.display(), graph_path.display());
    let left = format!("the trace is kept: contech-middle {trace} {graph} makes the graph of it");
    if program.was_interrupted() {
        interrupt::stop(&left);
    }
    interrupt.leaves(left);
    middle::convert(&converter, &traces.main, &graph_path)?;
    interrupt.leaves(format!(
        "the graph is kept: contech-backend report {graph} -o report.html makes the report of it"
    ));
    let graph = analysis::open(&graph_path)?;
    for warning in analysis::warnings(&graph) {
        eprintln!("contech: warning: {warning}");
    }
    let report_path = arguments.output.join("report.html");
    let (data, told) = write_report(&graph, &report_path)?;
    if !arguments.keep_trace {
        fs::remove_file(&traces.main)
            .with_context(|| format!("cannot remove {}", traces.main.display()))?;
    }
    summarise(&data, &told);
    eprintln!("contech: report  {}", report_path.display());
    eprintln!(
        "contech: graph   {}  (more: contech-backend --list)",
        graph_path.display()
    );
    if arguments.keep_trace {
        eprintln!("contech: trace   {}", traces.main.display());
    }
    for other in &traces.others {
        eprintln!(
            "contech: another process left {}; contech-middle makes a graph of it",
            other.display()
        );
    }
    Ok(program.status())
}

/// Writes the report; its data, and the findings told on the way.
fn write_report(graph: &Graph, path: &Path) -> Result<(PageData, Vec<String>)> {
    let mut told = Vec::new();
    let bar = progress::spinner("report");
    let choices = cache::Options::default();
    let step = |step| bar.set_message(step);
    let data = PageData::collect_telling(graph, choices, step, |first| {
        bar.suspend(|| begin(graph, first));
        let texts = first.findings.iter().take(FINDINGS);
        told.extend(texts.map(|finding| finding.text.clone()));
    })?;
    bar.finish_and_clear();
    output::to(Some(path), |out| {
        Ok(out.write_all(report::render(&data)?.as_bytes())?)
    })?;
    Ok((data, told))
}

/// What is known before the code and the accesses are looked at.
fn begin(graph: &Graph, first: &First) {
    let summary = graph.summary();
    eprintln!(
        "contech: {} Potential {:.2}.",
        first.headline, first.potential
    );
    eprintln!(
        "contech: {} tasks, {} edges, {} block executions, {} accesses",
        count(summary.tasks.total()),
        count(summary.edges),
        count(summary.blocks),
        count(summary.accesses)
    );
    say(first.findings.iter().take(FINDINGS));
}

/// The findings, but for those that were told before.
fn summarise(data: &PageData, told: &[String]) {
    let findings = data.findings.iter().take(FINDINGS);
    say(findings.filter(|finding| !told.contains(&finding.text)));
}

fn say<'a>(findings: impl Iterator<Item = &'a Finding>) {
    let bullet = if std::io::stderr().is_terminal() {
        "•"
    } else {
        "-"
    };
    findings.for_each(|finding| eprintln!("contech: {bullet} {}", finding.text));
}
