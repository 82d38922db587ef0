//! Graphs of older versions.

use taskgraph::text::{TextOptions, to_text};
use taskgraph::{Action, ContextId, Position, TaskGraph};

/// A graph that version 1 of the format was written for, as hexadecimal text: two threads that take turns at a mutex
/// after a loop over an array, an allocation, a memset.
const V1: &str = include_str!("data/v1.hex");

/// One of version 2: two threads that take turns at a mutex, loops, an allocation, a memset; paths, no frame index.
const V2: &str = include_str!("data/v2.hex");

/// One of version 3: two threads, 4,000 repetitions of a loop over arrays.
const V3: &str = include_str!("data/v3.hex");

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |p: &[u8]| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

#[test]
fn a_graph_of_version_1_reads_as_it_did() {
    let graph = TaskGraph::from_bytes(bytes(V1)).unwrap();
    assert_eq!(graph.version(), 1);
    graph.verify().unwrap();
    let text = to_text(&graph, TextOptions::default()).unwrap();
    assert!(text.contains("mutex_lock"), "{text}");
    // What version 1 of the library said.
    let tasks: Vec<usize> = graph.contexts().map(|c| c.task_count as usize).collect();
    assert_eq!(tasks, [9, 4]);
    let mut sum = 0u64;
    let mut accesses = 0;
    for context in [0, 1] {
        for task in graph.tasks_of(ContextId::new(context)) {
            task.unwrap()
                .for_each_access(|a| {
                    accesses += 1;
                    sum = sum
                        .wrapping_mul(31)
                        .wrapping_add(a.addr << 1 | u64::from(a.write));
                })
                .unwrap();
        }
    }
    assert_eq!((accesses, sum), (208, 1_976_925_250_833_875_278));
}

#[test]
fn a_graph_of_version_2_reads_as_it_did() {
    let graph = TaskGraph::from_bytes(bytes(V2)).unwrap();
    assert_eq!(graph.version(), 2);
    graph.verify().unwrap();
    let summary = graph.summary();
    assert_eq!(
        (summary.contexts, summary.tasks.total(), summary.edges),
        (2, 30, 3)
    );
    assert_eq!((summary.blocks, summary.accesses), (250, 234));
    // Without an index points are reached, too.
    let task = graph.tasks_of(ContextId::new(0)).next().unwrap().unwrap();
    let mut all = Vec::new();
    task.for_each_access(|a| all.push(a.addr)).unwrap();
    let n = all.len() - 1;
    let mut actions = task.actions_from(Position::Access(n as u64)).unwrap();
    let Some(Action::Block(block)) = actions.next().unwrap() else {
        panic!("no block");
    };
    assert_eq!(block.accesses().last().map(|a| a.addr), Some(all[n]));
}

#[test]
fn a_graph_of_version_3_reads_as_it_did() {
    let graph = TaskGraph::from_bytes(bytes(V3)).unwrap();
    assert_eq!(graph.version(), 3);
    let mut found = 0;
    for task in graph.tasks() {
        task.unwrap().for_each_access(|_| found += 1).unwrap();
    }
    assert_eq!((graph.summary().accesses, found), (98_352_853, 98_352_853));
}
