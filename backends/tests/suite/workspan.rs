//! Work and span by call site on graphs whose answers are known: those of the paper that wait for
//! what is serial, and random fork-join programs against the paper's own algorithm.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the numbers are small"
)]

mod program;

mod bottlenecks;
mod random;
mod synchronisation;

use contech_backends::analysis::{Graph, run};
use contech_backends::workspan::{Metric, Options, Report, SiteRow, WorkSpan};
use program::Recorder;
use taskgraph::Block;

fn ops() -> Options {
    Options { metric: Metric::Ops, p_max: 8, ..Options::default() }
}

fn report(graph: &Graph) -> Report {
    run::<WorkSpan>(ops(), graph).expect("a report")
}

fn site<'r>(report: &'r Report, callee: &str, line: u32) -> &'r SiteRow {
    let found = report.sites.iter().find(|s| s.callee == callee && s.line == line);
    found.unwrap_or_else(|| panic!("{callee}:{line} in {:#?}", report.sites))
}

#[test]
fn a_task_of_more_blocks_than_are_kept_has_the_same_profile_in_time() {
    let mut recorder = Recorder::default();
    let main = recorder.block("main", 1, 2, Block::ENTRY);
    let call = recorder.call("main", 2, 3, "f");
    let f = recorder.block("f", 5, 7, Block::ENTRY | Block::RETURN);
    let rest = recorder.block("main", 3, 1, Block::RETURN);
    let context = recorder.main();
    recorder.run(context, main);
    for _ in 0..50_000 {
        recorder.run(context, call);
        recorder.run(context, f);
    }
    recorder.run(context, rest);
    let graph = recorder.graph();
    let in_time = run::<WorkSpan>(Options::default(), &graph).expect("a report");
    for report in [report(&graph), in_time] {
        assert_eq!((report.work, report.span), (500_003, 500_003));
        let own = site(&report, "f", 2).on_work.local;
        assert_eq!((own.count, own.work), (50_000, 350_000));
    }
}
