//! The commands, each with its arguments.

mod answer;
mod findings;
mod record;

use anyhow::Result;
use clap::Parser;

/// Measures the tools of this checkout
#[derive(Debug, Parser)]
pub(crate) enum Command {
    Record(record::Arguments),
    Answer(answer::Arguments),
    Findings(findings::Arguments),
}

impl Command {
    pub(crate) fn run(&self) -> Result<()> {
        match self {
            Self::Record(arguments) => record::run(arguments),
            Self::Answer(arguments) => answer::run(arguments),
            Self::Findings(arguments) => findings::run(arguments),
        }
    }
}
