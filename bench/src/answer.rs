//! `cargo bench-answer`: how long a user of `contech run` waits, beside how long the recorded run
//! takes: for the first sentence about the time, and for the page. And what each analysis of the
//! same graph takes.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use clap::Args;
use contech_tests::outputs::{home, tool, workspace};
use contech_tests::program::is_cxx;

use crate::form::Form;
use crate::measure::{Usage, measure, watched};
use crate::planted::stem;
use crate::real::PACKAGES;
use crate::record::{self, heading};

/// Measures `contech run`: the recorded run, the answer, the page, and each analysis
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Where programs, traces and graphs go
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// A folder with other tools, which are measured, too
    #[arg(long, value_name = "DIR")]
    old: Option<PathBuf>,
    /// Only the programs whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// What is said first of real programs, instead
    #[arg(long)]
    real: bool,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    home();
    let scratch = arguments.dir.join(format!("contech-bench-answer-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let (old, only) = (arguments.old.as_deref(), &arguments.only);
    let (what, tables) = match arguments.real {
        true => ("sentences", sentences(only, &scratch)),
        false => ("answer", tables(old, only, &scratch)),
    };
    fs::remove_dir_all(&scratch)?;
    let text = heading("The answer of a recorded run") + &tables?;
    record::publish(&text, what, arguments.dry)
}

/// Programs below `bench/`, and the argument with which they run about a tenth of a second
/// natively, or less where the recording is large.
const PROGRAMS: [(&str, u32); 15] = [
    ("programs/hash.c", 100),
    ("programs/spmv.c", 500),
    ("programs/gather.c", 500),
    ("programs/tree.c", 40),
    ("programs/quicksort.c", 16),
    ("programs/quicksort_threads.cpp", 16),
    ("programs/histogram_threads.c", 1500),
    ("programs/triad_threads.c", 20_000),
    ("programs/bank_threads.c", 3000),
    ("programs/queue_threads.cpp", 50_000),
    ("programs/barrier_threads.c", 10_000),
    ("patterns/loops.c", 100),
    ("patterns/storm.c", 1000),
    ("patterns/tasks.c", 22),
    ("patterns/counters.c", 100_000),
];

/// What is asked of each graph.
const ANALYSES: [&str; 11] = [
    "account",
    "parallelism",
    "blocks",
    "cache",
    "critpath",
    "workspan",
    "factors",
    "misses",
    "sharing",
    "races",
    "memuse",
];

/// What begins the line with the answer, after the number of processors, and the line that ends the
/// program.
const ANSWER: &str = " of their time ran the program";
const ENDED: &str = " finished";

/// Wall and CPU time since the start of `contech run`.
type Spent = (f64, f64);

/// A run of `contech run`.
struct Run {
    /// Until the program had ended, and until the answer was told.
    ended: Spent,
    answer: Spent,
    /// The answer.
    said: String,
    whole: Usage,
}

fn compiled(file: &str, form: Form, dir: &Path) -> Result<PathBuf> {
    let source = workspace().join("bench").join(file);
    let program = dir.join(format!("{}.{}", stem(&source), form.name()));
    let mut flags = vec!["-O2", "-g", "-pthread", "-fopenmp", "-lm"];
    flags.extend(is_cxx(&source).then_some("-std=c++20"));
    form.tools().compile(&source, &flags, &program)?;
    Ok(program)
}

/// Runs `contech run` of a folder of tools on a command.
fn answered(home: &Path, program: &Command, dir: &Path) -> Result<Run> {
    let mut command = Command::new(home.join("contech"));
    // A sentence is one line then.
    command.env("COLUMNS", "10000");
    command.arg("run").arg("-o").arg(dir.join("out"));
    command.arg("--").arg(program.get_program()).args(program.get_args());
    if let Some(folder) = program.get_current_dir() {
        command.current_dir(folder);
    }
    let (mut ended, mut answer, mut said) = (None, None, String::new());
    let whole = watched(&mut command, |line, spent| {
        if line.ends_with(ENDED) {
            ended = Some(spent);
        }
        if line.contains(ANSWER) && answer.is_none() {
            answer = Some(spent);
            said = line.trim_start_matches("contech: ").to_owned();
        }
    })?;
    Ok(Run {
        ended: ended.context("the program did not end")?,
        answer: answer.context("there was no answer")?,
        said,
        whole,
    })
}

/// The quickest of three runs, in which no thread spins while it waits for others: the kernel would
/// count that as work.
fn quickest(program: impl Fn() -> Command) -> Result<Usage> {
    let mut best: Option<Usage> = None;
    for _ in 0..3 {
        let (_, used) = measure(program().env("OMP_WAIT_POLICY", "passive"))?;
        if best.as_ref().is_none_or(|best| used.wall < best.wall) {
            best = Some(used);
        }
    }
    best.context("three runs")
}

/// The first sentence of each package, beside how much of two processors the kernel says that the
/// native program used.
fn sentences(only: &str, dir: &Path) -> Result<String> {
    let mut text = String::from(
        "\nSources of Debian packages, which nobody here wrote or tuned the account to. *Used* is the share of two processors that the native run used, by the kernel, where OpenMP's threads sleep when they wait (`OMP_WAIT_POLICY=passive`), the quickest of three; *ran* is what the account says of the recorded run.\n\n\
         | program | native, s | used | ran | answer after, s | what is said first |\n|---|---:|---:|---:|---:|---|\n",
    );
    let home = home().to_owned();
    for package in PACKAGES {
        if package.threads() < 2 || !package.name.contains(only) {
            continue;
        }
        let subject = package.subject(dir, false)?;
        let native = quickest(|| subject.command(Form::Native, true))?;
        let run = answered(&home, &subject.command(Form::Fast, true), dir)?;
        let wall = native.wall;
        let used = native.cpu / wall.max(0.001) / 2.0;
        let before = run.said.split(ANSWER).next().unwrap_or_default();
        let ran = before.rsplit(' ').next().unwrap_or_default();
        let after = run.answer.0 - run.ended.0;
        let _ = writeln!(
            text,
            "| {} | {wall:.2} | {:.0}% | {ran} | {:.1} | {} |",
            package.name,
            used * 100.0,
            after,
            run.said
        );
        eprintln!("{}", text.lines().last().unwrap_or_default());
        fs::remove_dir_all(dir.join("out"))?;
    }
    Ok(text)
}

/// The tables; `old` is a folder with other tools, and only programs whose names contain `only` are
/// measured.
fn tables(old: Option<&Path>, only: &str, dir: &Path) -> Result<String> {
    let new = home().to_owned();
    let homes: Vec<&Path> = [old, Some(new.as_path())].into_iter().flatten().collect();
    let mut waits = String::from(
        "\nSeconds. *Recorded* is the recorded run alone; *answer* and *page* are what `contech run` takes from the end of the program to the first sentence about the time, and to its own end. \
         Each with wall time and CPU time. *Ratio* is (recorded + answer) / recorded, wall.\n\n\
         | program | M accesses | native | recorded | answer, wall | CPU | ratio | page, wall | CPU | peak MB |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    let mut each = format!(
        "\nCPU seconds of each analysis of the same graphs.\n\n| program | {} |\n|---|{}\n",
        ANALYSES.join(" | "),
        "---:|".repeat(ANALYSES.len())
    );
    for (file, argument) in PROGRAMS {
        if !file.contains(only) {
            continue;
        }
        let (name, argument) = (stem(Path::new(file)), argument.to_string());
        let native = compiled(file, Form::Native, dir)?;
        let program = compiled(file, Form::Fast, dir)?;
        let (_, native) = measure(Command::new(native).arg(&argument))?;
        let (mut runs, mut costs) = (Vec::new(), Vec::new());
        for home in &homes {
            let mut command = Command::new(&program);
            command.arg(&argument);
            runs.push(answered(home, &command, dir)?);
        }
        let graph = dir.join("out/graph.tg");
        for analysis in ANALYSES {
            let (_, used) = measure(tool("contech-backend").arg(analysis).arg(&graph))?;
            costs.push(used.cpu);
        }
        let accesses = taskgraph::map(&graph)?.summary().accesses;
        row(&mut waits, &name, accesses, &native, &runs);
        let costs: Vec<String> = costs.iter().map(|cost| format!("{cost:.2}")).collect();
        let _ = writeln!(each, "| {name} | {} |", costs.join(" | "));
        eprintln!("{}", each.lines().last().unwrap_or_default());
        fs::remove_dir_all(dir.join("out"))?;
    }
    Ok(waits + &each)
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn row(text: &mut String, name: &str, accesses: u64, native: &Usage, runs: &[Run]) {
    let each = |figure: &dyn Fn(&Run) -> f64, digits: usize| {
        let figures = runs.iter().map(|run| format!("{:.digits$}", figure(run)));
        figures.collect::<Vec<_>>().join(" -> ")
    };
    let after = |run: &Run| [run.answer.0 - run.ended.0, run.answer.1 - run.ended.1];
    let rest = |run: &Run| {
        let (wall, cpu) = run.ended;
        [run.whole.wall - wall, (run.whole.cpu - cpu).max(0.0)]
    };
    let _ = writeln!(
        text,
        "| {name} | {:.1} | {:.2} | {} | {} | {} | {} | {} | {} | {} |",
        accesses as f64 / 1e6,
        native.wall,
        each(&|run| run.ended.0, 2),
        each(&|run| after(run)[0], 2),
        each(&|run| after(run)[1], 2),
        each(&|run| run.answer.0 / run.ended.0.max(0.001), 0),
        each(&|run| rest(run)[0], 2),
        each(&|run| rest(run)[1], 2),
        each(&|run| run.whole.peak_bytes as f64 / 1e6, 0),
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
}
