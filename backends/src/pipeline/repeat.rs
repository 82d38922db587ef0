//! More runs of a program, which tell what differs by chance.

use std::fs;

use anyhow::Result;

use super::middle::Converter;
use super::program::Program;
use super::traces::TraceFolder;
use super::{RunArguments, sample_of, sampled};
use crate::account;

/// Runs the program as often as it is to be repeated. Each run leaves a graph with a sample of what
/// was executed, which is enough for its account.
pub(super) fn accounts(
    arguments: &RunArguments,
    converter: &Converter,
) -> Result<Vec<account::Report>> {
    if arguments.repeat <= 1 {
        return Ok(Vec::new());
    }
    // Apart from the trace of the first run, which may be kept.
    let path = arguments.output.join("repeat");
    let run = |number| {
        let folder = TraceFolder::prepare(&path)?;
        let program = Program::run(&arguments.run, &folder.pattern()?, &converter.interrupt)?;
        converter.interrupt.check();
        let traces = folder.traces(&program, converter)?;
        let graph = arguments.output.join(format!("graph.{number}.tg"));
        let sample = sample_of(&traces.own);
        sampled(converter, (&traces.own, &graph), sample).map(|(_, account)| account)
    };
    let accounts = (2..=arguments.repeat).map(run).collect();
    TraceFolder::prepare(&path)?;
    // A folder with files of somebody else's stays.
    let _ = fs::remove_dir(&path);
    accounts
}
