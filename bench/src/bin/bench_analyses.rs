//! `cargo bench-analyses`: the analyses on synthetic and recorded graphs, compared with cachegrind, as tables and a
//! dated file.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::analyses::{Input, SIZES, analyse, cachegrind, recorded, synthetic};
use contech_bench::equal::equal;
use contech_bench::pace;
use contech_bench::patterns;
use contech_bench::record::{self, heading};
use contech_bench::synthetic::Kind;
use contech_tests::debian;
use contech_tests::outputs::Outputs;

/// Measures the analyses, and writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// A tenth of the work
    #[arg(long)]
    quick: bool,
    /// Runs of each analysis; the fastest counts
    #[arg(long, default_value_t = 3)]
    runs: usize,
    /// Where traces and graphs go
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// Only the goals of making, reading and analysing graphs
    #[arg(long)]
    goals: bool,
    /// With --goals or --equal: a folder with other tools, which are measured or compared
    #[arg(long, value_name = "DIR")]
    old: Option<PathBuf>,
    /// Measure one program of --goals and print what it costs
    #[arg(long, hide = true, value_name = "PROGRAM")]
    pace: Option<String>,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
    /// Only compare the results of the tools of --old with these, over the test programs
    #[arg(long, requires = "old")]
    equal: bool,
    /// With --equal: only the programs whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

/// Programs, whether they are affine, and their repetitions.
const RECORDED: [(&str, bool, u64); 8] = [
    ("triad_threads", true, 4000),
    ("matmul", true, 26),
    ("stencil", true, 300),
    ("histogram_threads", false, 200),
    ("quicksort_threads", false, 5),
    ("spmv", false, 40),
    ("tree", false, 15),
    ("hash", false, 20),
];
/// Repetitions of `triad_threads` that make 10^9 accesses.
const BILLION: u64 = 40_700;

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<()> {
    if let Some(name) = &arguments.pace {
        let measured = pace::measured(name, &arguments.dir)?;
        println!("{}", serde_json::to_string(&measured)?);
        return Ok(());
    }
    debian::ensure(&["valgrind"])?;
    Outputs::locate()?;
    let scratch = arguments
        .dir
        .join(format!("contech-bench-analyses-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let (what, title) = match (arguments.goals, arguments.equal) {
        (true, _) => ("pace", "Making, reading and analysing graphs"),
        (_, true) => (
            "equal",
            "Results of two versions of the tools over the test programs",
        ),
        _ => ("analyses", "Analyses"),
    };
    let mut text = heading(title);
    let old = arguments.old.as_deref();
    let done = match old.filter(|_| arguments.equal) {
        Some(old) => equal(old, &arguments.only, &scratch, &mut text),
        None if arguments.goals => pace::table(old, &scratch)
            .and_then(|table| Ok(table + &patterns::tables(old, &scratch)?))
            .map(|tables| text += &tables),
        None => fill(arguments, &scratch, &mut text),
    };
    fs::remove_dir_all(&scratch)?;
    done?;
    record::publish(&text, what, arguments.dry)
}

const RATES: &str = "\nMillions of accesses per second of user and system time of `contech-backend`, the fastest of the runs, the graph in a \
file in memory. Curve: 19 sizes of 1K to 256M, 4 ways, one pass. All ways: 1, 2, 4, 8, 16 and full as well; attributed: `misses` at 19 sizes \
and 4 ways; both as multiples of the curve's time.\n\n\
| graph | M accesses | curve M/s | goal | all ways x | attributed x | goal | races M/s | goal |\n\
|---|---:|---:|---:|---:|---:|---:|---:|---:|\n";

fn fill(arguments: &Arguments, scratch: &Path, text: &mut String) -> Result<()> {
    let share = if arguments.quick { 10 } else { 1 };
    text.push_str(RATES);
    for (kind, accesses) in [(Kind::Affine, 200_000_000), (Kind::Irregular, 20_000_000)] {
        rates(
            &synthetic(kind, accesses / share, scratch)?,
            arguments,
            text,
        )?;
    }
    for (name, affine, reps) in RECORDED {
        let (input, _) = recorded(name, affine, (reps / share).max(1), scratch)?;
        rates(&input, arguments, text)?;
    }
    report(BILLION / share, scratch, text)?;
    text.push_str(
        "\nOne cache of 32K, 8 ways and 64-byte lines, CPU seconds: native run, cachegrind, ours (recording, graph, analysis), and ours with \
         19 sizes and all ways. Cachegrind sees every instruction of the process, spills among them, ours the program's own code compiled by clang, before registers run out. \
         Data may lie elsewhere in the recorded executable: matmul's arrays are aligned for that reason (80 bytes further made 16% fewer misses, spills 0.2%).\n\n\
         | program | native | cachegrind | ours | 19 sizes, all ways | time ratio | accesses: cachegrind | ours | misses: cachegrind | ours | misses ratio |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for (name, reps) in [("matmul", 26), ("spmv", 40), ("hash", 20), ("tree", 15)] {
        compare(name, (reps / share).max(1), scratch, text)?;
    }
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "rates for people")]
fn rates(input: &Input, arguments: &Arguments, text: &mut String) -> Result<()> {
    let cost = |words: &[&str]| analyse(words, &input.graph, arguments.runs);
    let curve = cost(&["cache", "--sizes", SIZES, "--ways", "4"])?.cpu;
    let all = cost(&["cache", "--sizes", SIZES])?.cpu;
    let attributed = cost(&["misses", "--sizes", SIZES, "--ways", "4"])?.cpu;
    let races = cost(&["races"])?.cpu;
    let mega = input.accesses as f64 / 1e6;
    let goal = if input.affine { 1000 } else { 100 };
    let _ = writeln!(
        text,
        "| {} | {mega:.1} | {:.0} | {goal} | {:.2} | {:.2} | 1.5 | {:.0} | 20 |",
        input.name,
        mega / curve,
        all / curve,
        attributed / curve,
        mega / races
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
    fs::remove_file(&input.graph)?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "figures for people")]
fn report(reps: u64, scratch: &Path, text: &mut String) -> Result<()> {
    let (input, _) = recorded("triad_threads", true, reps, scratch)?;
    let page = scratch.join("report.html");
    let cost = analyse(&["report", "-o", &page.to_string_lossy()], &input.graph, 1)?;
    let _ = writeln!(
        text,
        "\nWhole report of `triad_threads` with {:.0} M accesses: {:.1} s of wall time (goal: 60 for 10^9), {:.1} s of CPU time, peak {:.0} MB (goal: 2048), \
         page {:.0} KB (goal: 3072).",
        input.accesses as f64 / 1e6,
        cost.wall,
        cost.cpu,
        cost.peak_bytes as f64 / 1e6,
        fs::metadata(&page)?.len() as f64 / 1e3
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
    fs::remove_file(&input.graph)?;
    Ok(())
}

#[expect(clippy::cast_precision_loss, reason = "ratios for people")]
fn compare(name: &str, reps: u64, scratch: &Path, text: &mut String) -> Result<()> {
    let c = cachegrind(name, reps, scratch)?;
    let [native, theirs, ours] = c.seconds;
    let _ = writeln!(
        text,
        "| {name} | {native:.2} | {theirs:.2} | {ours:.2} | {:.2} | {:.3} | {} | {} | {} | {} | {:.3} |",
        c.all_seconds,
        ours / theirs,
        c.theirs.0,
        c.ours.0,
        c.theirs.1,
        c.ours.1,
        c.ours.1 as f64 / c.theirs.1.max(1) as f64
    );
    eprintln!("{}", text.lines().last().unwrap_or_default());
    Ok(())
}
