//! The command `contech`. `contech scale` is the [`laboratory`]'s; `contech run` is here: record a
//! program, make its task graph, summarise it and write the report, in one go.
//!
//! The program's own output is left alone: whatever `contech` has to say goes to standard error.

mod answer;
mod describe;
mod interrupt;
mod middle;
mod program;
mod record;
mod recorder;
mod repeat;
mod traces;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;
use rustix::process::Signal;

use crate::account::{self, Account};
use crate::analysis::{self, Graph, default_config};
use crate::cli::{self, front};
use crate::laboratory;
use crate::output::{self, progress};
use crate::report::{self, Budget, Choices, PageData};
use crate::view::say;

use answer::Answer;
use middle::Converter;
use program::{Program, Run};
use traces::TraceFolder;

/// The page in the folder of a run.
const PAGE: &str = "report.html";
/// The exit statuses of `--strict`, which are those of contech-middle.
const INCOMPLETE: u8 = 3;
const PARTLY: u8 = 4;
/// For the first answer, code is read from a trace of more bytes than this as if it had about so
/// many.
const SAMPLED: u64 = 16 << 20;

#[derive(Debug, Parser)]
#[command(
    name = "contech",
    version = crate::cli::version(),
    about = "Records or measures a program's runs and reports on its parallelism"
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs a program built with contech-cc: record, graph, summary, report
    #[command(
        display_order = 0,
        after_help = "Example: contech run --limit 4G -- ./prog arguments"
    )]
    Run(Box<RunArguments>),
    /// Runs a program built with contech-cc and keeps its trace
    #[command(
        display_order = 1,
        after_help = "Example: contech record -o trace.bin -- ./prog arguments"
    )]
    Record(Box<record::Options>),
    /// Makes the task graph of a trace, as contech-middle does
    #[command(display_order = 2, disable_help_flag = true)]
    Graph {
        /// What contech-middle takes; --help shows it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Measures an unmodified program at several numbers of threads and says why it does not scale
    #[command(
        display_order = 3,
        after_help = "Example: contech scale --threads 1,2 -- ./prog {threads}"
    )]
    Scale(Box<laboratory::Options>),
    /// Prints what a shell needs to complete the command lines of contech and contech-backend
    #[command(display_order = 90, after_help = "Example: contech completions bash")]
    Completions {
        /// The shell, as in `source <(contech completions bash)`
        shell: Shell,
    },
    /// Writes the manual pages of contech and contech-backend
    #[command(display_order = 91, after_help = "Example: contech man man1")]
    Man {
        /// Folder for the pages, which is made if it does not exist
        folder: PathBuf,
    },
}

#[derive(Debug, clap::Args)]
struct RunArguments {
    /// Folder for the results
    #[arg(short, long, value_name = "DIR", default_value = "contech-out")]
    output: PathBuf,
    /// Keep the trace; otherwise it is removed once the graph is made
    #[arg(long)]
    keep_trace: bool,
    /// Where the program's status is 0, exit with 3 if the recording is incomplete, and with 4 if a
    /// limit, a region of interest or a sample left accesses out
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    budget: Budget,
    /// Run the program N times: what the runs agree on, and how far what the losses cost differs
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeat: u32,
    #[command(flatten)]
    run: Run,
}

/// Runs the command line `args`. The exit status is the program's when everything worked, 1 with a
/// message when not.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        Err(error) => error.exit(),
    };
    let done = match front::run(&matches) {
        Some(done) => done.map(|()| 0),
        None => run_ours(&matches),
    };
    cli::exit("contech", done)
}

/// The command line of `contech`.
fn command() -> clap::Command {
    front::add_to(Arguments::command())
        .after_help("Example: contech run -- ./prog arguments")
        .arg_required_else_help(true)
}

/// Runs what is no command that reads graphs.
fn run_ours(matches: &clap::ArgMatches) -> Result<u8> {
    match Arguments::from_arg_matches(matches)?.command {
        Command::Run(arguments) => run(&arguments),
        Command::Record(options) => record::run(&options),
        Command::Graph { arguments } => middle::become_it(&arguments),
        Command::Scale(options) => laboratory::scale(&options).map(|()| 0),
        Command::Completions { shell } => {
            output::to(None, |out| Ok(out.write_all(&describe::completions(shell))?)).map(|()| 0)
        }
        Command::Man { folder } => describe::manual(&folder).map(|()| 0),
    }
}

fn run(arguments: &RunArguments) -> Result<u8> {
    let path = middle::find()?;
    let folder = TraceFolder::prepare(&arguments.output)?;
    let report_path = arguments.output.join(PAGE);
    let interrupt = interrupt::install().context("cannot take signals")?;
    let converter = Converter { path, interrupt: interrupt.clone() };
    let program = Program::run(&arguments.run, &folder.pattern()?, &interrupt)?;
    let mut answer = Answer::begin(&program);

    let traces = folder.traces(&program, &converter)?;
    let graph_path = arguments.output.join("graph.tg");
    let (trace, graph) = (middle::listed(&traces.own), graph_path.display());
    let left = format!("the trace is kept: contech graph {trace} {graph} makes the graph of it");
    if program.was_interrupted() {
        interrupt::stop(Signal::INT, &left);
    }
    interrupt.leaves(left);
    first_answer(&converter, &traces.own, &mut answer)?;
    converter.convert((&traces.own, &graph_path), 1)?;
    interrupt.leaves(format!(
        "the graph is kept: contech report {graph} -o report.html makes the report of it"
    ));
    let graph = analysis::open(&graph_path)?;
    answer.warn(&graph);
    for trace in traces.own.iter().filter(|_| !arguments.keep_trace) {
        fs::remove_file(trace).with_context(|| format!("cannot remove {}", trace.display()))?;
    }
    let repeats = || repeat::accounts(arguments, &converter);
    // The program does not run again beside other work.
    let first = arguments.repeat > 1 || !answer.begun;
    write_report(&graph, arguments.budget, &report_path, first, &mut answer, repeats)?;
    say!("contech: report  {}{}", report_path.display(), answer.hidden());
    say!("contech: graph   {}", graph_path.display());
    for trace in traces.own.iter().filter(|_| arguments.keep_trace) {
        say!("contech: trace   {}", trace.display());
    }
    for other in &traces.others {
        say!(
            "contech: another process left {}; contech graph makes a graph of it",
            other.display()
        );
    }
    Ok(match program.status() {
        0 if arguments.strict && !graph.meta().complete => INCOMPLETE,
        0 if arguments.strict && graph.meta().unrecorded.is_some() => PARTLY,
        status => status,
    })
}

/// The account of a run needs the order and the times of all of it, but only a sample of what it
/// executes. So that of a large trace is told before the graph of all of it is made.
fn first_answer(converter: &Converter, traces: &[PathBuf], answer: &mut Answer) -> Result<()> {
    let sample = sample_of(traces);
    if sample <= 1 {
        return Ok(());
    }
    let file = traces[0].with_extension("sample");
    let made = sampled(converter, (traces, &file), sample);
    let told = made.map(|(graph, account)| {
        answer.warn(&graph);
        answer.first(&graph, &account, false);
    });
    // The file is gone in any case; that it never was is no second error.
    let _ = fs::remove_file(&file);
    told
}

/// Makes a graph with a sample of what was executed, and its account.
fn sampled(
    converter: &Converter,
    (traces, graph): (&[PathBuf], &Path),
    sample: u64,
) -> Result<(Graph, account::Report)> {
    converter.convert((traces, graph), sample)?;
    let graph = analysis::open(graph)?;
    let account = analysis::run::<Account>(default_config::<Account>()?, &graph)?;
    Ok((graph, account))
}

/// One in so many parts of a trace's code are enough for an account.
fn sample_of(traces: &[PathBuf]) -> u64 {
    let bytes = |trace| fs::metadata(trace).map_or(0, |trace| trace.len());
    traces.iter().map(bytes).sum::<u64>().div_ceil(SAMPLED)
}

/// Makes the page, and tells what it adds to the answer. If the answer was not told, or the program
/// has to run again, that comes `first`.
fn write_report(
    graph: &Graph,
    budget: Budget,
    path: &Path,
    first: bool,
    answer: &mut Answer,
    repeats: impl FnOnce() -> Result<Vec<account::Report>>,
) -> Result<()> {
    let bar = progress::spinner("report");
    let choices = Choices { budget, ..Choices::default() };
    let step = |step| bar.set_message(step);
    let data = PageData::collect_telling(graph, &choices, step, first, |account| {
        bar.suspend(|| {
            answer.first(graph, account, true);
            let others = repeats()?;
            answer.repeats(account, &others);
            Ok(others)
        })
    })?;
    // The page is complete before its file is begun, so who interrupts gets all of it or none.
    let page = report::render(&data)?;
    bar.finish_and_clear();
    output::to(Some(path), |out| Ok(out.write_all(page.as_bytes())?))?;
    answer.rest(&data);
    Ok(())
}
