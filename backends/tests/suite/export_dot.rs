//! Pictures of small graphs.

use crate::graphs::graph;
use contech_backends::export::{Shape, draw};
use taskgraph::builder::GraphBuilder;
use taskgraph::{SyncOp, TaskId};

/// Figure 3 of the paper in one graph: create, a lock, a barrier, join.
fn sample() -> GraphBuilder {
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    let child = b.create(main);
    b.work(main, 10, 20, |_| {});
    b.work(child, 10, 15, |_| {});
    let release = b.sync_at(main, 0xfeed, SyncOp::MutexUnlock, 20, 20);
    let acquire = b.sync_at(child, 0xfeed, SyncOp::MutexLock, 15, 20);
    b.edge(release, acquire);
    b.work(child, 20, 30, |_| {});
    b.work(main, 20, 30, |_| {});
    b.barrier(&[main, child], 0xba);
    b.work(child, 30, 40, |_| {});
    b.work(main, 30, 35, |_| {});
    b.join(main, child);
    b
}

#[test]
fn every_task_is_a_node_and_every_edge_an_arrow() {
    let drawing = draw(&graph(sample()), false, 2000).expect("small");
    let letters: String = drawing
        .nodes
        .iter()
        .map(|node| match node.shape {
            Shape::Oval => 'o',
            Shape::Square(letter) => letter,
        })
        .collect();
    assert_eq!(letters, "oCoSoBoJ".to_owned() + "oSoo");
    // Program order 7 + 3; create, lock, to the barrier, from it, join.
    assert_eq!(drawing.arrows.len(), 15);
    let mut text = Vec::new();
    drawing.write(&mut text).expect("memory");
    let text = String::from_utf8(text).expect("utf-8");
    assert!(
        text.starts_with("digraph tasks {\n") && text.ends_with("}\n"),
        "{text}"
    );
    assert!(
        text.contains("  \"0:0\" [label=\"0:0\", tooltip="),
        "{text}"
    );
    assert!(
        text.contains("  \"0:1\" [label=\"C\", shape=square, style=filled, fillcolor=black"),
        "{text}"
    );
    assert!(text.contains("  \"0:1\" -> \"1:0\";\n"), "{text}");
}

#[test]
fn phases_are_what_lies_between_creates_joins_and_barriers() {
    let drawing = draw(&graph(sample()), true, 2000).expect("small");
    let names: Vec<_> = drawing
        .nodes
        .iter()
        .map(|node| (node.id.to_string(), node.shape))
        .collect();
    let expected = [
        ("0:0", Shape::Oval),
        ("0:1", Shape::Square('C')),
        ("0:2", Shape::Oval),
        ("0:5", Shape::Square('B')),
        ("0:6", Shape::Oval),
        ("0:7", Shape::Square('J')),
        ("1:0", Shape::Oval),
        ("1:3", Shape::Oval),
    ];
    assert_eq!(names, expected.map(|(id, shape)| (id.to_owned(), shape)));
    let arrow = |from: &str, to: &str| {
        let of = |text: &str| -> TaskId { text.parse().expect("task id") };
        drawing
            .arrows
            .iter()
            .find(|arrow| arrow.from == of(from) && arrow.to == of(to))
            .map(|arrow| arrow.edges)
    };
    assert_eq!(
        (
            arrow("0:2", "1:0"),
            arrow("1:0", "0:5"),
            arrow("0:1", "1:0")
        ),
        (Some(1), Some(1), Some(1))
    );
    assert_eq!(
        (
            arrow("0:5", "1:3"),
            arrow("1:3", "0:7"),
            arrow("0:5", "1:0")
        ),
        (Some(1), Some(1), None)
    );
}

#[test]
fn a_graph_too_large_to_look_at_is_refused() {
    let graph = graph(sample());
    let error = draw(&graph, false, 11).expect_err("12 tasks").to_string();
    assert!(error.contains("12 tasks, more than --max 11"), "{error}");
    draw(&graph, false, 12).expect("just enough");
    let error = draw(&graph, true, 7).expect_err("8 phases").to_string();
    assert!(error.contains("more than --max 7 phases"), "{error}");
}
