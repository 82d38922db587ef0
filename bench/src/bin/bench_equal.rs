//! `cargo bench-equal`: the results of two versions of the tools over the test programs, as tables and a dated file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::equal::equal;
use contech_bench::record::{self, heading};
use contech_tests::outputs::Outputs;

/// Compares the results of other tools with those of these, and writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Where traces and graphs go
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// A folder with the other tools
    #[arg(long, value_name = "DIR")]
    old: PathBuf,
    /// Print only, write no record
    #[arg(long)]
    dry: bool,
    /// Only the programs whose names contain this
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
}

fn main() -> ExitCode {
    record::exit(run(&Arguments::parse()))
}

fn run(arguments: &Arguments) -> Result<()> {
    Outputs::locate()?;
    let scratch = arguments
        .dir
        .join(format!("contech-bench-equal-{}", std::process::id()));
    fs::create_dir_all(&scratch)?;
    let mut text = heading("Results of two versions of the tools over the test programs");
    let done = equal(&arguments.old, &arguments.only, &scratch, &mut text);
    fs::remove_dir_all(&scratch)?;
    done?;
    record::publish(&text, "equal", arguments.dry)
}
