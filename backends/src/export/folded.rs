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
pub(super) enum Weight {
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

/// Writes stacks with the sums of their numbers.
fn write_stacks(
    out: &mut dyn Write,
    stacks: impl Iterator<Item = (Vec<String>, u64)>,
) -> Result<()> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (names, number) in stacks {
        *sums.entry(names.join(";")).or_default() += number;
    }
    for (stack, number) in sums {
        writeln!(out, "{stack} {number}")?;
    }
    Ok(())
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
    if weight == Weight::Wait {
        let waits = profile.waits.iter().filter(|(_, ns)| **ns > 0);
        let waits = waits.map(|(&(node, _, cause), &ns)| {
            let mut names = stack(node);
            names.push(format!("[{}]", cause.name()));
            (names, ns)
        });
        return write_stacks(out, waits);
    }
    let column = match weight {
        Weight::Misses => profile::MISSES,
        _ => profile::TIME,
    };
    let rows = profile.rows.iter().filter_map(|(&(node, _), costs)| {
        let number = costs.get(column).copied().filter(|number| *number > 0)?;
        Some((stack(node), number))
    });
    write_stacks(out, rows)
}

/// Writes stacks weighted by their part of the span.
pub(super) fn write_span(
    out: &mut dyn Write,
    graph: &Graph,
    report: &workspan::Report,
) -> Result<()> {
    let all = report.flame.iter().enumerate().filter(|(_, node)| node.span > 0);
    let stacks = all.map(|(at, node)| {
        let mut names = Vec::new();
        let (mut at, mut next) = (at, node);
        while next.parent != at {
            names.push(frame(&names::label(&next.name)));
            (at, next) = (next.parent, &report.flame[next.parent]);
        }
        names.push(frame(&program(graph)));
        names.reverse();
        (names, node.span)
    });
    write_stacks(out, stacks)
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
