//! `cargo bench-findings`: programs with a planted bottleneck and their mended twins, recorded here and now.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::findings::{Planted, Said};
use contech_bench::form::Form;
use contech_bench::record;
use contech_bench::spread::median;
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
    /// Recordings of each program and of its twin
    #[arg(long, default_value_t = 1)]
    times: u32,
    /// Undisturbed unrecorded runs of each program and of its twin, for the measured gain
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
    text.push_str("| program | threads | planted | said, share of the processors' time, lines | cause right | line, too | said of the twin | gone | predicted gain | measured |\n|---|---:|---|---|---:|---:|---|---:|---:|---:|\n");
    let (mut right, mut near, mut quiet, mut all) = (0, 0, 0, 0);
    for planted in Planted::all()? {
        let name = planted.name();
        if !arguments.names.is_empty() && !arguments.names.contains(&name) {
            continue;
        }
        let (program, twin) = (
            planted.build(&dir, Form::Fast, false)?,
            planted.build(&dir, Form::Fast, true)?,
        );
        let planted_causes: Vec<&str> = planted.causes.iter().map(String::as_str).collect();
        for &threads in &arguments.threads {
            let gain = planted.gain(&dir, threads, arguments.runs)?;
            let (mut causes_right, mut lines_right, mut gone, mut close) = (0, 0, 0, 0);
            let (mut first, mut of_twin) = (Vec::new(), Vec::new());
            for _ in 0..arguments.times {
                let said = planted.said(&program, threads)?;
                let (cause, line) = planted.right(&said);
                causes_right += u32::from(cause);
                lines_right += u32::from(cause && line);
                close += u32::from((said.mended / gain.times - 1.0).abs() <= CLOSE);
                first.push(said);
                let said = planted.said(&twin, threads)?;
                gone += u32::from(planted.gone(&said));
                of_twin.push(said);
            }
            let most = |n: u32| 10 * n >= 9 * arguments.times;
            all += 1;
            quiet += u32::from(gain.quiet);
            near += u32::from(gain.quiet && 2 * close > arguments.times);
            right += u32::from(most(lines_right) && most(gone));
            let row = format!(
                "| {name} | {threads} | {} | {} | {causes_right} | {lines_right} | {} | {gone} | {:.2} | {:.2}{} |",
                planted_causes.join(", "),
                causes(&first),
                causes(&of_twin),
                median(&first.iter().map(|said| said.mended).collect::<Vec<_>>()),
                gain.times,
                if gain.quiet { "" } else { " (disturbed)" },
            );
            eprintln!("{row}");
            text.push_str(&row);
            text.push('\n');
        }
    }
    let _ = writeln!(
        text,
        "\nEach was recorded {} times. {right} of {all} are right in cause and line, and gone in the twin, in 9 of 10 recordings; {near} predictions are within 15% of the measured gain, of {quiet} that could be measured undisturbed.",
        arguments.times
    );
    record::publish(&text, "findings", arguments.dry)
}

/// Each cause that was said, how often, and the words of its first time.
fn causes(said: &[Said]) -> String {
    let mut causes: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for said in said {
        let (times, _) = causes
            .entry(&said.cause)
            .or_insert_with(|| (0, said.words()));
        *times += 1;
    }
    let words = causes
        .values()
        .map(|(times, words)| format!("{times}x {words}"));
    words.collect::<Vec<_>>().join("; ")
}
