//! Work and span by call site on graphs whose answers are known: the paper's programs as recurrences, and random
//! fork-join programs against the paper's own algorithm.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the numbers are small"
)]

mod graphs;
#[path = "workspan/program.rs"]
mod program;

use contech_backends::analysis::{Graph, run};
use contech_backends::workspan::{
    Locks, Metric, Options, Report, SiteRow, WorkSpan, parallel, scale,
};
use program::Recorder;
use taskgraph::{Block, BlockId, ContextId, SyncOp};
use workspan::{Kind, Measure, Shadow, Site};

fn ops() -> Options {
    Options {
        metric: Metric::Ops,
        p_max: 8,
        ..Options::default()
    }
}

fn report(graph: &Graph) -> Report {
    run::<WorkSpan>(ops(), graph).expect("a report")
}

fn site<'r>(report: &'r Report, callee: &str, line: u32) -> &'r SiteRow {
    let found = report
        .sites
        .iter()
        .find(|s| s.callee == callee && s.line == line);
    found.unwrap_or_else(|| panic!("{callee}:{line} in {:#?}", report.sites))
}

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

/// Figure 8, two levels: the base case is never reached from an outermost mm.
fn matrix_multiply(n: u32) -> Graph {
    struct Mm(Recorder, [BlockId; 6], Vec<BlockId>);
    fn mm(m: &mut Mm, context: ContextId, n: u32) {
        let [entry, base, base_entry, base_return, sync, end] = m.1;
        m.0.run(context, entry);
        if n <= 1 {
            for block in [base, base_entry, base_return, end] {
                m.0.run(context, block);
            }
            return;
        }
        let mut children = Vec::new();
        for at in 0..3 {
            m.0.run(context, m.2[at]);
            let child = m.0.create(context);
            mm(m, child, n / 2);
            children.push(child);
        }
        m.0.run(context, m.2[3]);
        mm(m, context, n / 2);
        m.0.run(context, sync);
        children
            .into_iter()
            .for_each(|child| m.0.join(context, child));
        m.0.run(context, end);
    }
    let mut r = Recorder::default();
    let main = r.block("main", 19, 3, Block::ENTRY);
    let call = r.call("main", 24, 3, "mm");
    let rest = r.block("main", 25, 3, Block::RETURN);
    let blocks = [
        r.block("mm", 1, 2, Block::ENTRY),
        r.call("mm", 4, 2, "base"),
        r.block("base", 30, 1000, Block::ENTRY),
        r.block("base", 31, 5000, Block::RETURN),
        r.call("mm", 15, 2, "pthread_join"),
        r.block("mm", 17, 2, Block::RETURN),
    ];
    let sites = [
        (7, "pthread_create"),
        (9, "pthread_create"),
        (11, "pthread_create"),
        (13, "mm"),
    ];
    let sites = sites
        .map(|(line, callee)| r.call("mm", line, 4, callee))
        .to_vec();
    let mut m = Mm(r, blocks, sites);
    let context = m.0.main();
    m.0.run(context, main);
    m.0.run(context, call);
    mm(&mut m, context, n);
    m.0.run(context, rest);
    m.0.graph()
}

#[test]
fn the_base_case_of_matrix_multiply_has_no_top_caller_work_and_nearly_all_local_work() {
    let report = report(&matrix_multiply(16));
    let base = site(&report, "base", 4);
    assert_eq!(
        base.on_work.top_caller,
        contech_backends::workspan::Measures::default()
    );
    assert_eq!(base.on_work.top_call_site.parallelism(), 1.0);
    assert!(base.on_work.local.work as f64 > 0.99 * report.work as f64);
    assert_eq!(base.count, 256);
    let top = site(&report, "mm", 24);
    assert!(top.parallelism > 200.0, "{}", top.parallelism);
    assert_eq!(report.bottleneck().map(|s| s.callee.as_str()), Some("base"));
}

#[test]
fn a_serial_partition_is_the_bottleneck_of_quicksort_and_what_if_it_were_parallel() {
    let mut r = Recorder::default();
    let main = r.block("main", 26, 3, Block::ENTRY);
    let call = r.call("main", 31, 3, "pqsort");
    let rest = r.block("main", 33, 3, Block::RETURN);
    let entry = r.block("pqsort", 17, 2, Block::ENTRY);
    let to_partition = r.call("pqsort", 20, 2, "partition");
    let start = r.block("partition", 1, 1, Block::ENTRY);
    let scan = r.block("partition", 6, 3, 0);
    let end = r.block("partition", 13, 1, Block::RETURN);
    let spawn = r.call("pqsort", 21, 2, "pthread_create");
    let recur = r.call("pqsort", 22, 2, "pqsort");
    let sync = r.call("pqsort", 23, 2, "pthread_join");
    let leave = r.block("pqsort", 25, 1, Block::RETURN);
    #[allow(clippy::items_after_statements, reason = "beside its blocks")]
    fn sort(r: &mut Recorder, b: [BlockId; 9], context: ContextId, n: u32) {
        let [
            entry,
            to_partition,
            start,
            scan,
            end,
            spawn,
            recur,
            sync,
            leave,
        ] = b;
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
    sort(
        &mut r,
        [
            entry,
            to_partition,
            start,
            scan,
            end,
            spawn,
            recur,
            sync,
            leave,
        ],
        context,
        1024,
    );
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
    let options = Options {
        parallel: vec![parallel("partition=16").expect("a change")],
        ..ops()
    };
    let what_if = run::<WorkSpan>(options, &graph)
        .expect("a report")
        .what_if
        .expect("asked for");
    assert_eq!(what_if.work, now.work);
    // Eight partitions on the path, each cut to 16 operations.
    assert_eq!(what_if.span, now.span - top.on_span.local.span + 8 * 16);
    let options = Options {
        scale: vec![scale("program.c:20=0").expect("a change")],
        ..ops()
    };
    let what_if = run::<WorkSpan>(options, &graph)
        .expect("a report")
        .what_if
        .expect("asked for");
    assert_eq!(what_if.span, now.span - top.on_span.local.span);
}

#[test]
fn a_barrier_adds_the_slowest_of_each_phase_to_the_span_of_who_created_all() {
    let mut r = Recorder::default();
    let main = r.block("main", 1, 1, Block::ENTRY);
    let spawn = r.call("main", 2, 1, "pthread_create");
    let enter = r.block("worker", 10, 1, Block::ENTRY);
    let short = r.block("worker", 11, 10, 0);
    let long = r.block("worker", 12, 100, 0);
    let leave = r.block("worker", 13, 1, Block::RETURN);
    let end = r.block("main", 3, 1, Block::RETURN);
    let context = r.main();
    r.run(context, main);
    let workers = [0, 1].map(|_| {
        r.run(context, spawn);
        r.create(context)
    });
    for (worker, phases) in workers.into_iter().zip([[long, short], [short, long]]) {
        r.run(worker, enter);
        r.run(worker, phases[0]);
    }
    r.barrier(&workers);
    for (worker, phase) in workers.into_iter().zip([short, long]) {
        r.run(worker, phase);
        r.run(worker, leave);
    }
    workers
        .into_iter()
        .for_each(|worker| r.join(context, worker));
    r.run(context, end);
    let report = report(&r.graph());
    // main, the first creation, a worker's entry, the long phase of each, a worker's end.
    assert_eq!(report.span, 1 + 1 + 1 + 100 + 100 + 1 + 1);
    let whole = site(&report, "main", 1).on_work.top_call_site;
    assert_eq!((whole.work, whole.span), (report.work, report.span));
    let worker = site(&report, "worker", 2);
    assert_eq!((worker.count, worker.kind), (2, "spawn"));
    // A worker waits for the other one, but that is not its own work: its span is its own instructions.
    assert_eq!(worker.on_work.top_call_site.span, 2 * 112);
    let local: u64 = report.sites.iter().map(|s| s.on_span.local.span).sum();
    assert_eq!(local, report.span);
}

#[test]
fn locks_count_as_the_order_they_had_or_not_at_all() {
    let mut r = Recorder::default();
    let main = r.block("main", 1, 1, Block::ENTRY);
    let spawn = r.call("main", 2, 1, "pthread_create");
    let enter = r.block("worker", 10, 1, Block::ENTRY);
    let inside = r.block("worker", 11, 50, 0);
    let leave = r.block("worker", 13, 1, Block::RETURN);
    let end = r.block("main", 3, 1, Block::RETURN);
    let context = r.main();
    r.run(context, main);
    let workers = [0, 1, 2].map(|_| {
        r.run(context, spawn);
        r.create(context)
    });
    let mut released = None;
    for worker in workers {
        r.run(worker, enter);
        r.cut(worker);
        let lock = r.builder().sync(worker, 0xfeed, SyncOp::MutexLock);
        if let Some(before) = released {
            r.builder().edge(before, lock);
        }
        r.run(worker, inside);
        r.cut(worker);
        released = Some(r.builder().sync(worker, 0xfeed, SyncOp::MutexUnlock));
        r.run(worker, leave);
    }
    workers
        .into_iter()
        .for_each(|worker| r.join(context, worker));
    r.run(context, end);
    let graph = r.graph();
    let ordered = report(&graph);
    assert_eq!(ordered.span, 1 + 1 + 1 + 3 * 50 + 1 + 1);
    let free = Options {
        locks: Locks::Free,
        ..ops()
    };
    let free = run::<WorkSpan>(free, &graph).expect("a report");
    assert_eq!(free.span, 1 + 3 + 1 + 50 + 1 + 1);
    assert_eq!(free.work, ordered.work);
}

/// A function of a random program: its steps, and the blocks they execute.
struct Function {
    entry: BlockId,
    steps: Vec<(Step, BlockId)>,
    sync: BlockId,
    end: BlockId,
    /// Calls of the Cilk-style header's marks, for the serial form.
    spawns: BlockId,
    syncs: BlockId,
}

#[derive(Clone, Copy)]
enum Step {
    Work,
    Call(usize),
    Spawn(usize),
    Sync,
}

struct Random {
    recorder: Recorder,
    functions: Vec<Function>,
    shadow: Shadow,
    fuel: u32,
    times: graphs::Random,
    /// Spawns are executed serially and marked, not created.
    serial: bool,
}

impl Random {
    fn new(seed: u64, serial: bool) -> Self {
        let mut random = graphs::Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut recorder = Recorder::default();
        let mut line = 0;
        let mut next = |random: &mut graphs::Random| {
            line += 1;
            (line, 1 + random.below(9) as u32)
        };
        let count = 2 + random.below(4) as usize;
        let functions = (0..count)
            .map(|f| {
                let name = format!("f{f}");
                let mut block = |r: &mut Recorder, random: &mut graphs::Random, flags| {
                    let (line, ops) = next(random);
                    r.block(&name, line, ops, flags)
                };
                let entry = block(&mut recorder, &mut random, Block::ENTRY);
                let sync = block(&mut recorder, &mut random, 0);
                let end = block(&mut recorder, &mut random, Block::RETURN);
                let steps = (0..1 + random.below(6)).map(|_| {
                    let callee = random.below(count as u64) as usize;
                    let step = random.below(8);
                    if step == 7 {
                        return (Step::Sync, sync);
                    }
                    let (line, ops) = next(&mut random);
                    match step {
                        0..2 => (Step::Work, recorder.block(&name, line, ops, 0)),
                        2..4 => (
                            Step::Call(callee),
                            recorder.call(&name, line, ops, &format!("f{callee}")),
                        ),
                        _ => (
                            Step::Spawn(callee),
                            recorder.call(&name, line, ops, "pthread_create"),
                        ),
                    }
                });
                let steps = steps.collect();
                let mut mark = |callee: &str| {
                    let (line, ops) = next(&mut random);
                    recorder.call(&name, line, ops, callee)
                };
                let (spawns, syncs) = (mark("contech_cilk_spawn"), mark("contech_cilk_sync"));
                Function {
                    spawns,
                    syncs,
                    entry,
                    steps,
                    sync,
                    end,
                }
            })
            .collect();
        Self {
            recorder,
            functions,
            shadow: Shadow::default(),
            fuel: 60,
            times: random,
            serial,
        }
    }

    fn block(&mut self, context: ContextId, block: BlockId) {
        // Times at random: no two paths have the same length.
        let ns = self.times.below(1 << 30);
        self.recorder.run(context, block);
        self.recorder.cut_after(context, ns);
        self.shadow.advance(ns);
    }

    fn invoke(&mut self, context: ContextId, f: usize, depth: u32) {
        let mut children = Vec::new();
        self.block(context, self.functions[f].entry);
        for at in 0..self.functions[f].steps.len() {
            let (step, block) = self.functions[f].steps[at];
            let deeper = depth < 12 && self.fuel > 0;
            let enter = |kind| Site {
                id: block.get(),
                caller: f as u32,
                kind,
            };
            match step {
                Step::Call(callee) if deeper => {
                    self.fuel -= 1;
                    self.block(context, block);
                    self.shadow.enter(enter(Kind::Call));
                    self.invoke(context, callee, depth + 1);
                }
                Step::Spawn(callee) if deeper => {
                    self.fuel -= 1;
                    if self.serial {
                        self.block(context, self.functions[f].spawns);
                    }
                    self.block(context, block);
                    let child = if self.serial {
                        context
                    } else {
                        self.recorder.create(context)
                    };
                    self.shadow.enter(enter(Kind::Spawn));
                    self.invoke(child, callee, depth + 1);
                    children.push(child);
                }
                Step::Call(_) | Step::Spawn(_) => {}
                Step::Sync => self.sync(context, f, &mut children),
                Step::Work => self.block(context, block),
            }
        }
        if !children.is_empty() {
            self.sync(context, f, &mut children);
        }
        self.block(context, self.functions[f].end);
        self.shadow.leave();
    }

    fn sync(&mut self, context: ContextId, f: usize, children: &mut Vec<ContextId>) {
        self.block(context, self.functions[f].sync);
        if self.serial {
            self.block(context, self.functions[f].syncs);
            children.clear();
        }
        for child in children.drain(..) {
            self.recorder.join(context, child);
        }
        self.shadow.sync();
    }
}

fn same(row: &contech_backends::workspan::Profile, measure: &Measure) -> bool {
    let sums = [measure.top_call_site, measure.top_caller, measure.local];
    let rows = [row.top_call_site, row.top_caller, row.local];
    rows.iter()
        .zip(sums)
        .all(|(row, sum)| (row.count, row.work, row.span) == (sum.count, sum.work, sum.span))
}

#[test]
fn random_fork_join_programs_have_the_profiles_of_the_papers_algorithm() {
    let mut compared = 0;
    for (seed, serial) in (1..=120).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut program = Random::new(seed, serial);
        let context = program.recorder.main();
        let nobody = Site {
            id: u32::from(u16::MAX),
            caller: u32::from(u16::MAX),
            kind: Kind::Call,
        };
        program.shadow.enter(nobody);
        program.invoke(context, 0, 0);
        let Random {
            recorder, shadow, ..
        } = program;
        let got = run::<WorkSpan>(Options::default(), &recorder.graph()).expect("a report");
        let mut on_span = vec![Measure::default(); usize::from(u16::MAX) + 1];
        shadow.on_span(|site, measure| on_span[site as usize] += measure);
        let total = shadow.on_work(u32::from(u16::MAX)).top_call_site;
        assert_eq!(
            (got.work, got.span),
            (total.work, total.span),
            "seed {seed}, serial {serial}"
        );
        for row in got.sites.iter().filter(|row| !row.caller.is_empty()) {
            let at = got_block(row);
            assert!(
                same(&row.on_work, &shadow.on_work(at as u32)),
                "seed {seed}, serial {serial}: {row:#?}\n{:#?}",
                shadow.on_work(at as u32)
            );
            assert!(
                same(&row.on_span, &on_span[at]),
                "seed {seed}, serial {serial}: {row:#?}\n{:#?}",
                on_span[at]
            );
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared} call sites");
}

/// Blocks are numbered as they are declared, which is by line.
fn got_block(row: &SiteRow) -> usize {
    row.line as usize - 1
}
