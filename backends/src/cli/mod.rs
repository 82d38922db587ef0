//! The command `contech-backend ANALYSIS graph.tg [options]`.

mod common;
mod division;
pub(crate) mod front;
pub mod registry;
mod shard;
mod tools;

use std::process::ExitCode;
use std::sync::LazyLock;

use anyhow::Result;
use clap::{Arg, ArgAction, Command};

use crate::output::{self, is_broken_pipe};
use crate::view::fail;

pub use common::Common;
pub(crate) use common::open;

/// The version of the tools and of the graphs that they read.
pub(crate) fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        let (tools, graph) = (env!("CARGO_PKG_VERSION"), taskgraph::VERSION);
        format!("{tools} (graph format {graph})")
    });
    &VERSION
}

/// Runs the command line `args` and returns the exit status: 0, or 1 with one message on standard
/// error.
pub fn main(args: impl IntoIterator<Item = std::ffi::OsString>) -> ExitCode {
    exit("contech-backend", run(args).map(|()| 0))
}

/// The exit status of a tool that has done its work, or says why not.
pub(crate) fn exit(tool: &str, done: Result<u8>) -> ExitCode {
    match done {
        Ok(status) => ExitCode::from(status),
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            fail(tool, &error);
            ExitCode::FAILURE
        }
    }
}

pub(crate) fn command() -> Command {
    let list = Arg::new("list")
        .long("list")
        .action(ArgAction::SetTrue)
        .help("List the analyses, one line each");
    let command = Command::new("contech-backend")
        .about("Analyses a task graph")
        .version(version())
        .subcommand_value_name("ANALYSIS")
        .subcommand_help_heading("Analyses")
        .disable_help_subcommand(true)
        .arg_required_else_help(true)
        .after_help(
            "Example: contech-backend cache graph.tg --sizes 1K..8M --ways 8,full --format json",
        )
        .arg(list);
    tools::entries().fold(command, |command, entry| command.subcommand(entry.command()))
}

/// What is wrong with a command line, as clap words it.
fn said(error: &clap::Error) -> anyhow::Error {
    let text = error.render().to_string();
    anyhow::anyhow!("{}", text.trim_start_matches("error: ").trim_end())
}

/// Runs the command line `args`, as [`main`] does.
///
/// # Errors
/// When the command line makes no sense, or what it asks for fails.
pub fn run(args: impl IntoIterator<Item = std::ffi::OsString>) -> Result<()> {
    let matches = match command().try_get_matches_from(args) {
        Ok(matches) => matches,
        // For help, version and usage errors, clap words the message and chooses the stream.
        Err(error) if error.use_stderr() => return Err(said(&error)),
        Err(error) => return Ok(error.print()?),
    };
    if matches.get_flag("list") {
        return output::to(None, |out| list(out));
    }
    let (name, matches) = matches
        .subcommand()
        .ok_or_else(|| anyhow::anyhow!("name an analysis; --list shows them"))?;
    let entry =
        tools::entries().find(|entry| entry.name == name).expect("clap knows only the registry");
    (entry.run)(matches)
}

fn list(out: &mut dyn std::io::Write) -> Result<()> {
    let width = tools::entries().map(|entry| entry.name.len()).max().unwrap_or(0);
    for entry in tools::entries() {
        writeln!(out, "{:width$}  {}", entry.name, entry.about)?;
    }
    Ok(())
}
