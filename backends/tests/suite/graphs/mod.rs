//! Random graphs and the obvious answers about them, for the exactness tests of the analyses.

pub(crate) mod affine;
pub(crate) mod random;

pub(crate) use crate::samples::graph;

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, Command, FromArgMatches};
use contech_backends::analysis::{Analysis, Graph, run};
use contech_backends::report::{Choices, PageData};
use serde::Serialize;
use taskgraph::TaskId;
use taskgraph::builder::GraphBuilder;

/// The options of an analysis that the words of a line are.
pub(crate) fn options<A: Analysis<Config: Args>>(line: &str) -> A::Config {
    let command = A::Config::augment_args(Command::new(A::NAME).no_binary_name(true));
    let matches = command.try_get_matches_from(line.split_whitespace()).expect(line);
    A::Config::from_arg_matches(&matches).expect(line)
}

/// What an analysis finds with these options.
pub(crate) fn found<A: Analysis<Config: Args>>(line: &str, graph: &Graph) -> A::Report {
    run::<A>(options::<A>(line), graph).expect("a readable graph")
}

/// The same with what its command adds from other analyses.
pub(crate) fn completed<A: Analysis<Config: Args>>(line: &str, graph: &Graph) -> A::Report {
    let mut report = found::<A>(line, graph);
    A::complete(&mut report, graph).expect("a readable graph");
    report
}

/// A result as JSON.
pub(crate) fn json(result: &impl Serialize) -> String {
    serde_json::to_string(result).expect("plain data")
}

/// What the page shows of a graph.
pub(crate) fn page(builder: GraphBuilder) -> PageData {
    page_of(&graph(builder))
}

pub(crate) fn page_of(graph: &Graph) -> PageData {
    PageData::collect(graph, &Choices::default(), |_| {}).expect("a report")
}

/// All predecessors of every task.
pub(crate) fn predecessors(graph: &Graph) -> BTreeMap<TaskId, Vec<TaskId>> {
    let tasks = graph.tasks().map(|task| task.expect("readable"));
    tasks.map(|task| (task.id(), task.predecessors().expect("readable"))).collect()
}

/// For every task, the tasks that come before it by some path.
pub(crate) fn ancestors(graph: &Graph) -> BTreeMap<TaskId, BTreeSet<TaskId>> {
    let mut all: BTreeMap<TaskId, BTreeSet<TaskId>> = BTreeMap::new();
    for task in graph.tasks() {
        let task = task.expect("readable");
        let mut own = BTreeSet::new();
        for before in task.predecessors().expect("readable") {
            own.extend(all[&before].iter().copied());
            own.insert(before);
        }
        all.insert(task.id(), own);
    }
    all
}
