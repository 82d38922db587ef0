//! Races: planted ones are found, none are invented; and against reachability on random graphs.
#![allow(clippy::cast_possible_truncation, reason = "the numbers are small")]

mod accesses;
mod lives;
mod order;
mod program;
mod random;

use crate::graphs::{graph, options};
use contech_backends::analysis::run;
use contech_backends::races::Races;
use taskgraph::builder::GraphBuilder;
use taskgraph::{ContextId, MemOp};

#[test]
fn little_memory_means_more_passes_and_the_same_races() {
    let mut b = GraphBuilder::new();
    let block = b.block("worker", "race.c", 50, &[MemOp::store(8)]);
    let main = b.context("main");
    let children: Vec<ContextId> = (0..4).map(|_| b.create(main)).collect();
    for &child in &children {
        b.work(child, 0, 10, |w| (0..20_000).for_each(|i| w.block(block, &[0x10_0000 + 200 * i])));
    }
    let graph = graph(b);
    let with = |memory: &str| run::<Races>(options::<Races>(&format!("--memory {memory}")), &graph);
    let (one, many) = (with("1G").expect("enough"), with("256K").expect("several passes"));
    assert_eq!((one.passes, one.races.len(), one.races[0].count), (1, 1, many.races[0].count));
    assert!(many.passes > 5, "{} passes", many.passes);
    assert_eq!(one.races[0].count, 20_000 * 6);
    let error = with("1K").expect_err("not even one page fits").to_string();
    assert!(error.contains("give more"), "{error}");
}
