//! `cargo bench-findings`: programs with a planted bottleneck and their mended twins, recorded here and now.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::findings::Planted;
use contech_bench::form::Form;
use contech_bench::record;
use contech_tests::debian;
use contech_tests::outputs::{Outputs, target_dir};

/// Whether the first finding names the planted cause and line, and is gone in the mended twin
#[derive(Debug, Parser)]
struct Arguments {
    /// Programs (all)
    names: Vec<String>,
    /// Threads
    #[arg(long, value_delimiter = ',', default_value = "2,4")]
    threads: Vec<u32>,
    /// Unrecorded runs of each program and of its twin, for the measured gain
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

/// A prediction this close to the measured gain is right.
const CLOSE: f64 = 0.15;

fn main() -> ExitCode {
    record::exit(measure(&Arguments::parse()))
}

fn measure(arguments: &Arguments) -> Result<()> {
    debian::ensure(&debian::TEST_PACKAGES)?;
    Outputs::locate()?;
    let dir = target_dir().join("bench").join("findings");
    let mut text = record::heading("The first finding");
    text.push_str("| program | threads | planted | said, share of the processors' time, lines | right | said of the twin | gone | predicted gain | measured |\n|---|---:|---|---|---|---|---|---:|---:|\n");
    let (mut right, mut near, mut all) = (0, 0, 0);
    let yes = |yes: bool| if yes { "yes" } else { "**no**" };
    for planted in Planted::all()? {
        let name = planted.name();
        if !arguments.names.is_empty() && !arguments.names.contains(&name) {
            continue;
        }
        let (program, twin) = (
            planted.build(&dir, Form::Fast, false)?,
            planted.build(&dir, Form::Fast, true)?,
        );
        let causes: Vec<&str> = planted.causes.iter().map(String::as_str).collect();
        for &threads in &arguments.threads {
            let (said, of_twin) = (
                planted.said(&program, threads)?,
                planted.said(&twin, threads)?,
            );
            let (cause, line) = planted.right(&said);
            let gone = planted.gone(&of_twin);
            let gain = planted.gain(&dir, threads, arguments.runs)?;
            all += 1;
            near += u32::from((said.mended / gain - 1.0).abs() <= CLOSE);
            right += u32::from(cause && line && gone);
            let how = match (cause, line) {
                (true, true) => "yes",
                (true, false) => "cause only",
                (false, _) => "**no**",
            };
            let row = format!(
                "| {name} | {threads} | {} | {} | {how} | {} | {} | {:.2} | {gain:.2} |",
                causes.join(", "),
                said.words(),
                of_twin.words(),
                yes(gone),
                said.mended
            );
            eprintln!("{row}");
            text.push_str(&row);
            text.push('\n');
        }
    }
    let _ = writeln!(
        text,
        "\n{right} of {all} are right; {near} predictions are within 15% of the measured gain."
    );
    record::publish(&text, "findings", arguments.dry)
}
