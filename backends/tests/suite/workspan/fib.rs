//! Fib, as its recurrences say.

use contech_backends::analysis::{Graph, run};
use contech_backends::workspan::{Options, WorkSpan};
use taskgraph::{Block, BlockId, ContextId};

use super::program::Recorder;
use super::{report, site};

/// The blocks of Figure 5's fib: test, return n, spawn, call, sync, add.
struct Fib {
    recorder: Recorder,
    blocks: [BlockId; 6],
}

const OPS: [u32; 6] = [3, 1, 5, 4, 2, 7];

impl Fib {
    fn graph(n: u32) -> Graph {
        let mut recorder = Recorder::default();
        let main = recorder.block("main", 10, 2, Block::ENTRY);
        let call = recorder.call("main", 13, 6, "fib");
        let rest = recorder.block("main", 14, 9, Block::RETURN);
        let blocks = [
            recorder.block("fib", 2, OPS[0], Block::ENTRY),
            recorder.block("fib", 2, OPS[1], Block::RETURN),
            recorder.call("fib", 4, OPS[2], "pthread_create"),
            recorder.call("fib", 5, OPS[3], "fib"),
            recorder.call("fib", 6, OPS[4], "pthread_join"),
            recorder.block("fib", 7, OPS[5], Block::RETURN),
        ];
        let mut fib = Self { recorder, blocks };
        let context = fib.recorder.main();
        fib.recorder.run(context, main);
        fib.recorder.run(context, call);
        fib.run(context, n);
        fib.recorder.run(context, rest);
        fib.recorder.graph()
    }

    fn run(&mut self, context: ContextId, n: u32) {
        let [test, leaf, spawn, call, sync, add] = self.blocks;
        self.recorder.run(context, test);
        if n < 2 {
            return self.recorder.run(context, leaf);
        }
        self.recorder.run(context, spawn);
        let child = self.recorder.create(context);
        self.run(child, n - 1);
        self.recorder.run(context, call);
        self.run(context, n - 2);
        self.recorder.run(context, sync);
        self.recorder.join(context, child);
        self.recorder.run(context, add);
    }

    fn work(n: u32) -> u64 {
        let [test, leaf, spawn, call, sync, add] = OPS.map(u64::from);
        match n {
            0 | 1 => test + leaf,
            _ => test + spawn + call + sync + add + Self::work(n - 1) + Self::work(n - 2),
        }
    }

    fn span(n: u32) -> u64 {
        let [test, leaf, spawn, call, sync, add] = OPS.map(u64::from);
        match n {
            0 | 1 => test + leaf,
            _ => test + spawn + Self::span(n - 1).max(call + Self::span(n - 2) + sync) + add,
        }
    }
}

#[test]
fn fib_has_the_work_and_span_of_its_recurrences() {
    for n in [0, 1, 2, 5, 12] {
        let report = report(&Fib::graph(n));
        let (work, span) = (Fib::work(n) + 17, Fib::span(n) + 17);
        assert_eq!((report.work, report.span), (work, span), "fib({n})");
        let top = site(&report, "fib", 13).on_work.top_call_site;
        assert_eq!((top.work, top.span), (Fib::work(n), Fib::span(n)));
        let local: u64 = report.sites.iter().map(|s| s.on_span.local.span).sum();
        assert_eq!(local, report.span);
        let local: u64 = report.sites.iter().map(|s| s.on_work.local.work).sum();
        assert_eq!(local, report.work);
    }
}

#[test]
fn fib_counts_only_the_invocations_of_figure_six() {
    let report = report(&Fib::graph(4));
    let (spawn, call) = (site(&report, "fib", 4), site(&report, "fib", 5));
    assert_eq!((spawn.kind, call.kind), ("spawn", "call"));
    assert_eq!((spawn.count, call.count), (4, 4));
    let works = |ns: &[u32]| ns.iter().map(|&n| Fib::work(n)).sum::<u64>();
    let spans = |ns: &[u32]| ns.iter().map(|&n| Fib::span(n)).sum::<u64>();
    for (site, top_site, top_caller) in [(spawn, &[3u32, 1][..], [3]), (call, &[2, 1, 0], [2])] {
        let top = site.on_work.top_call_site;
        assert_eq!(top.count, top_site.len() as u64);
        assert_eq!((top.work, top.span), (works(top_site), spans(top_site)));
        let top = site.on_work.top_caller;
        assert_eq!(
            (top.work, top.span),
            (works(&top_caller), spans(&top_caller))
        );
    }
}

#[test]
fn the_ratio_of_fibs_top_caller_work_is_the_golden_ratio() {
    let report = report(&Fib::graph(16));
    let first = site(&report, "fib", 4).on_work.top_caller.work;
    let second = site(&report, "fib", 5).on_work.top_caller.work;
    let golden = f64::midpoint(1.0, 5f64.sqrt());
    assert!((first as f64 / second as f64 / golden - 1.0).abs() < 0.02);
}

#[test]
fn time_gives_the_same_profile_where_an_operation_takes_a_nanosecond() {
    let graph = Fib::graph(9);
    let by_time = run::<WorkSpan>(
        Options {
            p_max: 1,
            ..Options::default()
        },
        &graph,
    );
    let (by_time, by_ops) = (by_time.expect("a report"), report(&graph));
    assert_eq!(by_time.sites, by_ops.sites);
}
