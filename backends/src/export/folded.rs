//! Folded stacks, one line each: `program;main;work 1234`. Every flame graph viewer reads them.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;

use super::profile::{self, Profile};
use crate::analysis::Graph;
use crate::view::names;
use crate::workspan;

/// What the numbers are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Weight {
    /// Nanoseconds in which contexts ran
    #[default]
    Work,
    /// Nanoseconds on the longest path of dependences, as workspan has them
    Span,
    /// Nanoseconds in which contexts waited, with the cause as the last name
    Wait,
    /// Cache misses, of the smallest of --sizes
    Misses,
}

/// Stacks with their numbers.
#[derive(Debug, Default)]
struct Stacks(BTreeMap<String, u64>);

impl Stacks {
    fn add(&mut self, names: &[String], number: u64) {
        if number > 0 {
            *self.0.entry(names.join(";")).or_default() += number;
        }
    }

    fn write(&self, out: &mut dyn Write) -> Result<()> {
        for (stack, number) in &self.0 {
            writeln!(out, "{stack} {number}")?;
        }
        Ok(())
    }
}

/// Writes stacks weighted by what a profile knows.
pub(super) fn write(
    out: &mut dyn Write,
    graph: &Graph,
    profile: &Profile,
    weight: Weight,
) -> Result<()> {
    let name = |node: u32| {
        let function = profile.nodes[node as usize].function;
        frame(&profile::name(graph.info(), function))
    };
    let stack = |node| {
        let mut names = vec![frame(&program(graph))];
        names.extend(profile.stack(node).into_iter().map(name));
        names
    };
    let mut stacks = Stacks::default();
    if weight == Weight::Wait {
        for wait in &profile.waits {
            let mut names = stack(wait.node);
            names.push(format!("[{}]", wait.cause.name()));
            stacks.add(&names, wait.ns);
        }
        return stacks.write(out);
    }
    let column = match weight {
        Weight::Misses => profile::MISSES,
        _ => profile::TIME,
    };
    for row in &profile.rows {
        if let Some(&number) = row.costs.get(column).filter(|&&number| number > 0) {
            stacks.add(&stack(row.node), number);
        }
    }
    stacks.write(out)
}

/// Writes stacks weighted by their part of the span.
pub(super) fn write_span(
    out: &mut dyn Write,
    graph: &Graph,
    report: &workspan::Report,
) -> Result<()> {
    let mut stacks = Stacks::default();
    for (at, node) in report.flame.iter().enumerate() {
        let mut names = Vec::new();
        let (mut at, mut next) = (at, node);
        while next.parent != at {
            names.push(frame(&names::label(&next.name)));
            (at, next) = (next.parent, &report.flame[next.parent]);
        }
        names.push(frame(&program(graph)));
        names.reverse();
        stacks.add(&names, node.span);
    }
    stacks.write(out)
}

/// The name of the recorded program.
pub(super) fn program(graph: &Graph) -> String {
    let command = graph.meta().command.first();
    let name = command.and_then(|command| command.rsplit('/').next());
    name.filter(|name| !name.is_empty()).unwrap_or("program").to_owned()
}

/// A name that does not look like two.
fn frame(name: &str) -> String {
    match name {
        "" => "(not recorded)".to_owned(),
        name => name.replace(';', ":").replace(['\n', '\r'], " "),
    }
}
