//! `cargo bench-answer`: how long a user waits for the answer of a recorded run, as tables and a
//! dated file.

use std::fs;
use std::path::PathBuf;

use crate::answer;
use crate::record::{self, heading};
use anyhow::Result;
use clap::Args;
use contech_tests::outputs::home;

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
    let (what, tables) = match arguments.real {
        true => ("sentences", answer::sentences(&arguments.only, &scratch)),
        false => {
            let old = arguments.old.as_deref();
            ("answer", answer::tables(old, &arguments.only, &scratch))
        }
    };
    fs::remove_dir_all(&scratch)?;
    let text = heading("The answer of a recorded run") + &tables?;
    record::publish(&text, what, arguments.dry)
}
