//! Options without a command line.

use anyhow::Result;
use clap::{Args, Command, FromArgMatches};

use super::Analysis;

/// The options of an analysis that a command line without options has.
///
/// # Errors
/// When it has options that must be given.
pub fn default_config<A: Analysis<Config: Args>>() -> Result<A::Config> {
    let command = A::Config::augment_args(Command::new(A::NAME));
    let matches = command.try_get_matches_from([A::NAME])?;
    Ok(A::Config::from_arg_matches(&matches)?)
}
