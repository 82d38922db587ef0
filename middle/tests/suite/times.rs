//! Times of tasks and contexts.

use contech_trace::event::{Arrival, EndReason, Event};

use crate::graph::converted;
use crate::trace::{BASE, LOOP, TraceBuilder, module_with_cuts};

#[test]
fn a_child_and_a_pause_have_the_times_that_were_recorded() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.create(0, 1);
    t.work(1);
    t.join(0, 1);
    let (before, duration) = (t.tick(), 1000);
    t.event(0, Event::Delay { before, duration });
    t.clock += duration;
    t.end(0);
    let graph = converted(t.finish()).graph;
    assert_eq!(graph.meta().command, ["program", "-x"]);
    let child = graph.contexts().nth(1).unwrap();
    assert_eq!(child.creator.unwrap().to_string(), "0:1");
    // Started at tick 30, ended at 40.
    assert_eq!((child.first_ns, child.last_ns), (30, 40));
    let delay = graph.task("0:3".parse().unwrap()).unwrap();
    assert_eq!(delay.duration_ns(), 1000);
}

#[test]
fn events_inside_of_a_function_stay_between_the_blocks_they_were_between() {
    // Each ends a frame, and some end what is handed on at a time.
    const ROUNDS: u64 = 1000;
    let mut t = TraceBuilder::empty();
    t.module(BASE, &module_with_cuts());
    t.start(0);
    let path = |k: u32| (BASE + LOOP + k).to_le_bytes();
    t.raw(0, &path(0));
    for _ in 0..ROUNDS {
        let before = t.tick() + 1000;
        t.event(0, Event::Delay { before, duration: 1 });
        t.raw(0, &path(1));
    }
    t.end(0);
    let graph = converted(t.finish()).graph;
    let blocks: Vec<u64> = graph
        .tasks()
        .map(|task| task.unwrap().block_count())
        .filter(|&blocks| blocks > 0)
        .collect();
    assert_eq!(blocks.len() as u64, ROUNDS + 1);
    assert!(blocks.iter().all(|&blocks| blocks == 1));
}

#[test]
fn time_taken_between_two_contexts_is_nobodys() {
    let mut t = TraceBuilder::new();
    let (piece, at) = (0, t.tick());
    t.event(0, Event::Switch { context: 1, piece, how: Arrival::Begins, at });
    t.work(0);
    let at = t.tick();
    t.event(0, Event::ContextEnd { reason: EndReason::Finished, at });
    t.event(0, Event::Stolen { taken: 5 });
    t.event(0, Event::Switch { context: 0, piece, how: Arrival::Resumes, at });
    t.work(0);
    t.end(0);
    let graph = converted(t.finish()).graph;
    let contexts: Vec<_> = graph.contexts().map(|context| context.id.get()).collect();
    assert_eq!(contexts, [0, 1]);
}

#[test]
fn a_position_says_where_the_thread_was_and_cuts_nothing() {
    let position =
        |at, ran| Event::Position { at, ran, system: 2, faults: 3, own: 1, processor: 6 };
    let converted_with = |positions: bool| {
        let mut t = TraceBuilder::new();
        let first = t.tick();
        t.work(0);
        t.work(0);
        if positions {
            t.event(0, position(first + 5, 7));
        }
        t.work(0);
        let last = t.tick();
        if positions {
            t.event(0, position(last, 9));
        }
        t.end(0);
        (first, last, converted(t.finish()).graph)
    };
    let (first, last, graph) = converted_with(true);
    let all: Vec<_> = graph.progress().collect();
    let [one, other] = &all[..] else {
        panic!("{all:?}");
    };
    assert_eq!((one.at_ns, one.ran_ns), (first + 5, 7000));
    assert_eq!((one.system_ns, one.faults, one.own_faults), (2000, 3, 1));
    assert_eq!(one.processor, 6);
    assert_eq!((other.at_ns, other.ran_ns), (last, 9000));
    let task = graph.task("0:0".parse().unwrap()).unwrap();
    let [span] = task.spans() else {
        panic!("{:?}", task.spans());
    };
    assert_eq!((one.frame, other.frame), (span.frame, span.frame));
    let blocks = |from, records| {
        let part = taskgraph::FrameSpan { first_record: from, records, ..*span };
        let mut counts = taskgraph::BlockCounts::new();
        task.count_blocks_in(part, &mut counts).unwrap();
        counts.iter().map(|(_, times)| times).sum::<u64>()
    };
    assert_eq!(blocks(span.first_record, one.record - span.first_record), 2);
    assert_eq!(blocks(one.record, other.record - one.record), 1);
    let (.., without) = converted_with(false);
    assert_eq!(without.progress().count(), 0);
    let tasks = |graph: &taskgraph::TaskGraph<taskgraph::Mmap>| -> Vec<_> {
        let tasks = graph.tasks().map(|task| task.unwrap());
        tasks.map(|task| (task.id(), task.start_ns(), task.block_count())).collect()
    };
    assert_eq!(tasks(&graph), tasks(&without));
}
