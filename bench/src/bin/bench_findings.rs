//! `cargo bench-findings`: programs with a planted bottleneck and their mended twins, recorded here and now.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::findings::Planted;
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
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
}

fn main() -> ExitCode {
    record::exit(measure(&Arguments::parse()))
}

fn measure(arguments: &Arguments) -> Result<()> {
    debian::ensure(&debian::TEST_PACKAGES)?;
    Outputs::locate()?;
    let dir = target_dir().join("bench").join("findings");
    let mut text = record::heading("The first finding");
    text.push_str("| program | threads | planted | said, share of the processors' time, lines | right | said of the twin | gone |\n|---|---:|---|---|---|---|---|\n");
    let (mut right, mut all) = (0, 0);
    let yes = |yes: bool| if yes { "yes" } else { "**no**" };
    for planted in Planted::all()? {
        let name = planted.name();
        if !arguments.names.is_empty() && !arguments.names.contains(&name) {
            continue;
        }
        let (program, twin) = (planted.build(&dir, false)?, planted.build(&dir, true)?);
        let causes: Vec<&str> = planted.causes.iter().map(String::as_str).collect();
        for &threads in &arguments.threads {
            let (said, of_twin) = (
                planted.said(&program, threads)?,
                planted.said(&twin, threads)?,
            );
            let (cause, line) = planted.right(&said);
            let gone = planted.gone(&of_twin);
            all += 1;
            right += u32::from(cause && line && gone);
            let how = match (cause, line) {
                (true, true) => "yes",
                (true, false) => "cause only",
                (false, _) => "**no**",
            };
            let row = format!(
                "| {name} | {threads} | {} | {} | {how} | {} | {} |",
                causes.join(", "),
                said.words(),
                of_twin.words(),
                yes(gone)
            );
            eprintln!("{row}");
            text.push_str(&row);
            text.push('\n');
        }
    }
    let _ = writeln!(text, "\n{right} of {all} are right.");
    record::publish(&text, "findings", arguments.dry)
}
