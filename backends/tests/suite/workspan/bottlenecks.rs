//! Quicksort: what holds it back, and what a change would bring.

use contech_backends::analysis::run;
use contech_backends::workspan::{Options, WorkSpan, parallel, scale};
use taskgraph::{Block, BlockId, ContextId};

use super::program::Recorder;
use super::{ops, report};

#[test]
fn a_serial_partition_is_the_bottleneck_of_quicksort_and_what_if_it_were_parallel() {
    let mut r = Recorder::default();
    let main = r.block("main", 26, 3, Block::ENTRY);
    let call = r.call("main", 31, 3, "pqsort");
    let rest = r.block("main", 33, 3, Block::RETURN);
    let blocks = [
        r.block("pqsort", 17, 2, Block::ENTRY),
        r.call("pqsort", 20, 2, "partition"),
        r.block("partition", 1, 1, Block::ENTRY),
        r.block("partition", 6, 3, 0),
        r.block("partition", 13, 1, Block::RETURN),
        r.call("pqsort", 21, 2, "pthread_create"),
        r.call("pqsort", 22, 2, "pqsort"),
        r.call("pqsort", 23, 2, "pthread_join"),
        r.block("pqsort", 25, 1, Block::RETURN),
    ];
    #[allow(clippy::items_after_statements, reason = "beside its blocks")]
    fn sort(r: &mut Recorder, b: [BlockId; 9], context: ContextId, n: u32) {
        let [entry, to_partition, start, scan, end, spawn, recur, sync, leave] = b;
        r.run(context, entry);
        if n > 4 {
            r.run(context, to_partition);
            r.run(context, start);
            (0..n).for_each(|_| r.run(context, scan));
            r.run(context, end);
            r.run(context, spawn);
            let child = r.create(context);
            sort(r, b, child, n / 2);
            r.run(context, recur);
            sort(r, b, context, n / 2);
            r.run(context, sync);
            r.join(context, child);
        }
        r.run(context, leave);
    }
    let context = r.main();
    r.run(context, main);
    r.run(context, call);
    sort(&mut r, blocks, context, 1024);
    r.run(context, rest);
    let graph = r.graph();
    let now = report(&graph);
    let top = now.bottleneck().expect("something ran");
    assert_eq!((top.callee.as_str(), top.line), ("partition", 20));
    assert!(now.bottleneck_share() > 0.9);
    assert_eq!(top.on_span.top_call_site.parallelism(), 1.0);
    assert!(
        now.bottleneck_sentence().contains(
            "partition (called at program.c:20 from pqsort), with nothing parallel inside"
        )
    );
    let options = Options { parallel: vec![parallel("partition=16").expect("a change")], ..ops() };
    let what_if = run::<WorkSpan>(options, &graph).expect("a report").what_if.expect("asked for");
    assert_eq!(what_if.work, now.work);
    // Eight partitions on the path, each cut to 16 operations.
    assert_eq!(what_if.span, now.span - top.on_span.local.span + 8 * 16);
    let options = Options { scale: vec![scale("program.c:20=0").expect("a change")], ..ops() };
    let what_if = run::<WorkSpan>(options, &graph).expect("a report").what_if.expect("asked for");
    assert_eq!(what_if.span, now.span - top.on_span.local.span);
}

#[test]
fn a_change_of_what_the_program_does_not_have_is_refused() {
    let mut r = Recorder::default();
    let body = r.block("main", 20, 1, Block::ENTRY | Block::RETURN);
    let context = r.main();
    r.run(context, body);
    let graph = r.graph();
    for site in ["nosuch=0.5", "program.c:9999=0.5", "other.c:20=0.5"] {
        let options = Options { scale: vec![scale(site).expect("a change")], ..ops() };
        let error = run::<WorkSpan>(options, &graph).expect_err(site);
        assert!(error.to_string().starts_with(site), "{error}");
    }
}
