//! `contech-middle trace.bin [more.bin ...] graph.tg` converts a trace to a task graph.
#![forbid(unsafe_code)]

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Parser;
use contech_middle::{
    Error, Input, Options, Progress, compare_graph, convert, dump_trace, merge, ranks_of_one_run,
};
use contech_plain::{Plain, say, size};
use indicatif::{ProgressBar, ProgressStyle};

/// Exit code for a graph that was recovered from an incomplete trace.
const RECOVERED: u8 = 3;
/// Exit code for a graph without a part of the accesses, because the user or a limit wanted so,
/// with --strict.
const PARTLY: u8 = 4;
/// Exit code after Ctrl-C, as in shells.
const INTERRUPTED: u8 = 130;

/// Converts a recorded trace into a task graph.
///
/// Exit code: 0 the trace was whole; 3 it was not, or differs from its naive form
/// (--contech-check): the graph holds what was recovered and is marked; 1 error. With --strict, 4:
/// the trace was whole, but the limit, the region of interest or the sample left accesses out.
#[derive(Debug, Parser)]
#[command(name = "contech-middle", version = version(), after_help = "Example: contech graph trace.bin graph.tg")]
struct Arguments {
    /// The trace (`-`: standard input) or the traces of the ranks of an MPI run, then the graph to
    /// write [default: trace.bin graph.tg].
    #[arg(value_names = ["TRACE", "GRAPH"])]
    paths: Vec<PathBuf>,
    /// Working memory (K, M, G: powers of two); what does not fit goes to a temporary file beside
    /// the graph.
    #[arg(long, default_value = "512M", value_parser = parse_size)]
    memory: usize,
    /// Threads that encode [default: one per core].
    #[arg(long)]
    threads: Option<usize>,
    /// Every synchronisation is a task of its own: for tests.
    #[arg(long, hide = true)]
    fine: bool,
    /// The graph has only one in so many stretches of what threads execute, for a first account.
    #[arg(long, hide = true, default_value = "1")]
    sample: u32,
    /// Say instead which of the traces are of ranks of the same MPI run as the first one: their
    /// places on the command line, from 0 on. Nothing if the first one is of no rank.
    #[arg(long, hide = true)]
    which_ranks: bool,
    /// Exit with 4 where nothing was lost but the limit, the region of interest or the sample left
    /// accesses out.
    #[arg(long)]
    strict: bool,
    /// Print the summary as JSON.
    #[arg(long)]
    json: bool,
    /// Compare an existing graph with its trace instead: every block, operand and allocation of
    /// every context.
    #[arg(long, conflicts_with = "dump_trace")]
    compare: bool,
    /// Print the trace as text instead: one block or event per line.
    #[arg(long)]
    dump_trace: bool,
    /// With --dump-trace, only this context.
    #[arg(long, requires = "dump_trace")]
    context: Option<u32>,
}

/// The version of the tool, of the traces that it reads and of the graphs that it writes.
fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let (trace, graph) = (contech_trace::file::VERSION, taskgraph::VERSION);
        let tool = env!("CARGO_PKG_VERSION");
        format!("{tool} (trace format {trace}, graph format {graph})")
    });
    &VERSION
}

fn parse_size(text: &str) -> Result<usize, String> {
    let bytes = size::parse(text).and_then(|bytes| usize::try_from(bytes).ok());
    bytes.ok_or_else(|| "expected a number of bytes such as 512M".to_owned())
}

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    contech_log::begin();
    match run(Arguments::parse()) {
        Ok(code) => code,
        // A reader that has seen enough and closes the pipe (such as `head`) is not an error.
        Err(e) if is_broken_pipe(&e) => ExitCode::SUCCESS,
        Err(e) => {
            match e.downcast_ref::<Error>() {
                // The message of an own error already contains its cause.
                Some(own) => say!("contech-middle: {own}"),
                None => say!("contech-middle: {e:#}"),
            }
            match e.downcast_ref::<Error>() {
                Some(Error::Cancelled) => ExitCode::from(INTERRUPTED),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    if arguments.dump_trace {
        return dump(arguments);
    }
    let mut paths = arguments.paths;
    if arguments.which_ranks {
        for place in ranks_of_one_run(&paths) {
            writeln!(Plain::new(io::stdout()), "{place}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if paths.is_empty() {
        paths.push(PathBuf::from("trace.bin"));
    }
    let graph = match paths.len() {
        1 => PathBuf::from("graph.tg"),
        last => paths.remove(last - 1),
    };
    let traces = paths.as_slice();
    if arguments.compare {
        let [trace] = traces else {
            bail!("--compare takes one trace and its graph");
        };
        let equal = compare_graph(trace.clone(), &graph)?;
        let (contexts, blocks, others) = (equal.contexts, equal.blocks, equal.others);
        writeln!(
            Plain::new(io::stdout()),
            "equal: {contexts} contexts, {blocks} blocks, {others} other actions"
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let on_signal = Arc::clone(&cancel);
    ctrlc::set_handler(move || on_signal.store(true, Ordering::Relaxed))
        .context("cannot handle ctrl-C")?;
    let bar = progress_bar();
    let shown = bar.clone();
    let mut options = Options {
        memory: arguments.memory,
        fine: arguments.fine,
        sample: arguments.sample.max(1),
        cancel: Some(cancel),
        progress: Some(Arc::new(move |p| show(&shown, p))),
        ..Options::default()
    };
    if let Some(threads) = arguments.threads {
        options.threads = threads.max(1);
    }
    let result = match traces {
        [trace] => convert(trace.clone(), &graph, &options),
        several => merge(several, &graph, &options),
    };
    bar.finish_and_clear();
    let summary = result?;
    let text = if arguments.json { serde_json::to_string(&summary)? } else { summary.to_string() };
    match writeln!(Plain::new(io::stdout()), "{text}") {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => return Err(e.into()),
        _ => {}
    }
    if let Some(check) = summary.check.filter(|c| c.mismatches > 0) {
        let first = check.differences.first().map_or("", String::as_str);
        say!(
            "contech-middle: the recording differs from its naive form at {} of {} block executions; this is a fault of the instrumentation, please report it with the program ({first})",
            check.mismatches,
            check.compared
        );
    }
    Ok(if !summary.complete {
        ExitCode::from(RECOVERED)
    } else if arguments.strict && summary.unrecorded.is_some() {
        ExitCode::from(PARTLY)
    } else {
        ExitCode::SUCCESS
    })
}

fn dump(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let Ok([trace]) = <[PathBuf; 1]>::try_from(arguments.paths) else {
        bail!("--dump-trace takes one trace");
    };
    let mut out = Plain::new(io::BufWriter::new(io::stdout().lock()));
    let dumped = dump_trace(Input::from(trace), arguments.context, &mut out)
        .map_err(anyhow::Error::from)
        .and_then(|()| Ok(out.flush()?));
    dumped.map(|()| ExitCode::SUCCESS)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|e| {
        e.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    })
}

fn progress_bar() -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::no_length();
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn show(bar: &ProgressBar, progress: Progress) {
    let style = |template: &str| {
        // The default style is good enough if a template is wrong.
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
    };
    match progress {
        Progress::Reading { done, of } => {
            if bar.position() == 0 {
                if let Some(size) = of {
                    bar.set_length(size);
                    bar.set_style(style(
                        "{bar:30} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
                    ));
                } else {
                    bar.set_style(style("{spinner} {bytes}, {bytes_per_sec}"));
                }
            }
            bar.set_position(done);
        }
        Progress::Comparing => {
            bar.set_style(style("{spinner} {elapsed}: comparing with the naive form"));
        }
        Progress::Ordering => {
            bar.set_style(style("{spinner} {elapsed}: ordering events"));
        }
        Progress::Writing => bar.set_style(style("{spinner} {elapsed}: writing tasks")),
        _ => {}
    }
}
