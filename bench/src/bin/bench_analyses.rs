//! `cargo bench-analyses`: the goals of making, reading and analysing graphs, beside cachegrind and other versions of the
//! tools, as tables and a dated file.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use contech_bench::equal::equal;
use contech_bench::pace;
use contech_bench::record::{self, heading};
use contech_tests::debian;
use contech_tests::outputs::Outputs;

/// Measures the analyses, and writes a dated record under bench/record/
#[derive(Debug, Parser)]
struct Arguments {
    /// Where traces and graphs go
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// A folder with other tools, which are measured or compared
    #[arg(long, value_name = "DIR")]
    old: Option<PathBuf>,
    /// Measure one program and print what it costs
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
    let (what, title) = match arguments.equal {
        true => (
            "equal",
            "Results of two versions of the tools over the test programs",
        ),
        false => ("pace", "Making, reading and analysing graphs"),
    };
    let mut text = heading(title);
    let old = arguments.old.as_deref();
    let done = match old.filter(|_| arguments.equal) {
        Some(old) => equal(old, &arguments.only, &scratch, &mut text),
        None => pace::table(old, &scratch).map(|table| text += &table),
    };
    fs::remove_dir_all(&scratch)?;
    done?;
    record::publish(&text, what, arguments.dry)
}
