//! Each analysis on small graphs, against numbers worked out by hand.
#![allow(clippy::float_cmp, reason = "the expected values are exact")]

use crate::graphs::{found, page};
use crate::samples::{builder, calls, graph, many, nothing, single, two};
use contech_backends::analysis::{Cause, Graph};
use contech_backends::blocks::Blocks;
use contech_backends::cache::{self, Cache};
use contech_backends::parallelism::{self, Parallelism};
use contech_backends::report::{Finding, PageData};
use contech_backends::view::chart::ActivityRow;
use taskgraph::builder::GraphBuilder;
use taskgraph::{AccessesOf, Block, BlockId, MemOp, SyncOp, Unrecorded};

fn parallelism(builder: GraphBuilder) -> parallelism::Report {
    found::<Parallelism>("", &graph(builder))
}

fn steps(report: &parallelism::Report) -> Vec<(u64, u32)> {
    report.steps.iter().map(|step| (step.t_ns, step.running)).collect()
}

fn waits(report: &parallelism::Report) -> Vec<(Cause, u64)> {
    report.waits.iter().map(|wait| (wait.cause, wait.ns)).collect()
}

/// What the page says of code that was not recorded.
fn unrecorded(data: &PageData) -> Option<&Finding> {
    data.findings.iter().find(|finding| finding.cause == "unrecorded")
}

fn cache(builder: GraphBuilder, line: &str) -> cache::Report {
    found::<Cache>(line, &graph(builder))
}

#[test]
fn a_context_waits_for_locks_barriers_and_joins_and_runs_otherwise() {
    let report = parallelism(two());
    let expected = [
        (0, 1),
        (100_000, 2),
        (150_000, 1),
        (300_000, 2),
        (400_000, 1),
        (600_000, 2),
        (700_000, 1),
    ];
    assert_eq!(steps(&report), expected);
    assert_eq!(
        waits(&report),
        [(Cause::Barrier, 200_000), (Cause::Lock, 150_000), (Cause::Join, 100_000)]
    );
    assert_eq!((report.duration_ns, report.average, report.peak), (800_000, 1.3125, 2));
    assert_eq!(
        report.levels.iter().map(|level| (level.running, level.ns)).collect::<Vec<_>>(),
        [(1, 550_000), (2, 250_000)]
    );
    assert!(report.exact);
}

#[test]
fn waits_are_placed_at_the_call_before_them() {
    let report = parallelism(two());
    let places: Vec<_> = report
        .places
        .iter()
        .map(|at| (at.cause, at.place.short(), at.callee.as_str(), at.ns))
        .collect();
    assert_eq!(
        places,
        [
            (Cause::Barrier, "two.c:44".to_owned(), "pthread_barrier_wait", 200_000),
            (Cause::Lock, "two.c:31".to_owned(), "pthread_mutex_lock", 150_000),
            (Cause::Join, "two.c:60".to_owned(), "pthread_join", 100_000),
        ]
    );
}

#[test]
fn a_barrier_owned_by_another_context_is_a_gap_that_counts_as_waiting() {
    let mut b = builder("./barrier");
    let contexts: Vec<_> = (0..3).map(|i| b.context(&format!("c{i}"))).collect();
    for (i, &context) in contexts.iter().enumerate() {
        b.work(context, 0, 10 * (i as u64 + 1), |_| {});
    }
    b.barrier(&contexts, 1);
    contexts
        .iter()
        .for_each(|&context| assert_eq!(b.work(context, 30, 40, |_| {}).context, context));
    let report = parallelism(b);
    assert_eq!(steps(&report), [(0, 3), (10, 2), (20, 1), (30, 3)]);
    assert_eq!(waits(&report), [(Cause::Barrier, 20 + 10)]);
}

#[test]
fn a_context_that_is_seen_before_its_first_task_does_nothing_until_then() {
    let mut b = GraphBuilder::new();
    let main = b.context("main");
    b.work(main, 40, 50, |_| {});
    b.sync_at(main, 8, SyncOp::MutexLock, 50, 60);
    b.seen(main, 10);
    let report = parallelism(b);
    assert_eq!(waits(&report), [(Cause::Lock, 10)]);
    let starts = |step: &&(u64, u32)| step.1 == 1;
    assert_eq!(steps(&report).iter().find(starts), Some(&(40, 1)));
}

#[test]
fn who_forked_a_team_waits_once_for_its_end() {
    let mut b = builder("./team");
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    let member = b.create(main);
    b.work(member, 10, 40, |_| {});
    b.clock(main, 35);
    b.join(main, member);
    let report = parallelism(b);
    assert_eq!(steps(&report), [(0, 1)]);
    assert_eq!(waits(&report), [(Cause::Join, 30)]);
    let counts: Vec<_> = report.places.iter().map(|place| place.waits).collect();
    assert_eq!(counts, [1]);
}

#[test]
fn unlocking_and_signalling_do_not_stop_a_context() {
    let mut b = builder("./unlock");
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    b.sync_at(main, 1, SyncOp::MutexUnlock, 10, 20);
    b.sync_at(main, 2, SyncOp::CondSignal, 20, 25);
    b.work(main, 25, 30, |_| {});
    let report = parallelism(b);
    assert_eq!(steps(&report), [(0, 1)]);
    assert!(report.waits.is_empty());
    assert_eq!(report.work_ns, 30);
}

#[test]
fn time_between_tasks_without_a_barrier_has_no_known_cause() {
    let mut b = builder("./gap");
    let main = b.context("main");
    b.work(main, 0, 10, |_| {});
    b.sync_at(main, 1, SyncOp::MutexUnlock, 50, 50);
    b.work(main, 50, 60, |_| {});
    let report = parallelism(b);
    assert_eq!(steps(&report), [(0, 1), (10, 0), (50, 1)]);
    assert_eq!(waits(&report), [(Cause::Other, 40)]);
}

#[test]
fn potential_parallelism_ignores_when_things_happened_to_run() {
    // Four independent contexts that ran one after the other.
    let mut b = builder("./staggered");
    for i in 0..4 {
        let context = b.context("c");
        b.work(context, i * 100, i * 100 + 100, |_| {});
    }
    let report = parallelism(b);
    assert_eq!(report.average, 1.0);
    assert_eq!((report.work_ns, report.span_ns, report.potential_average), (400, 100, 4.0));
    assert!(report.potential.iter().all(|&(_, average)| average == 4.0), "{:?}", report.potential);
}

#[test]
fn potential_parallelism_follows_edges_and_leaves_waiting_out() {
    // 1 hands over to 0 after 30 ns of work, though 0 took it only at 100; then 0 works 20 more.
    let mut b = builder("./handover");
    let (zero, one) = (b.context("zero"), b.context("one"));
    b.work(zero, 0, 10, |_| {});
    b.work(one, 0, 30, |_| {});
    let post = b.sync_at(one, 7, SyncOp::SemPost, 30, 30);
    let wait = b.sync_at(zero, 7, SyncOp::SemWait, 10, 100);
    b.edge(post, wait);
    b.work(zero, 100, 120, |_| {});
    let report = parallelism(b);
    assert_eq!((report.work_ns, report.span_ns), (60, 50));
    assert_eq!(report.potential_average, 1.2);
    assert_eq!(waits(&report), [(Cause::Semaphore, 90)]);
}

#[test]
fn fewer_points_keep_peaks_and_the_average() {
    let long = graph(many(6, 200));
    let exact = found::<Parallelism>("", &long);
    let few = found::<Parallelism>("--points 40", &long);
    assert!(exact.exact && !few.exact);
    assert!(
        exact.steps.len() > 1000 && few.steps.len() <= 80,
        "{} {}",
        exact.steps.len(),
        few.steps.len()
    );
    assert_eq!(few.average, exact.average);
    assert_eq!(few.steps.iter().map(|step| step.running).max(), Some(exact.peak));
    let area = |report: &parallelism::Report| {
        let ends = report.steps.iter().skip(1).map(|step| step.t_ns).chain([report.duration_ns]);
        report
            .steps
            .iter()
            .zip(ends)
            .map(|(step, end)| u64::from(step.running) * (end - step.t_ns))
            .sum::<u64>()
    };
    // Each of the 40 stretches rounds its switch from peak to low to whole nanoseconds.
    assert!(area(&exact).abs_diff(area(&few)) <= 40 * u64::from(exact.peak));
}

#[test]
fn block_executions_are_counted_by_running_contexts() {
    let report = found::<Blocks>("", &graph(two()));
    let levels =
        |line: u32| report.blocks.iter().find(|row| row.place.line == line).unwrap().levels.clone();
    assert_eq!(levels(5), [(1, 10)], "set-up runs alone");
    // Alone: 15 of 20 while the child waits, 10 of 20 and 10 while the parent waits, 10 of 20 while
    // it joins.
    assert_eq!(levels(20), [(1, 45), (2, 50)]);
    assert_eq!(levels(31), [(2, 1)]);
    assert_eq!(levels(60), [(2, 1)]);
    assert_eq!((report.executions, report.max_running), (109, 2));
    let work = &report.functions[0];
    assert_eq!((work.place.function.as_str(), work.blocks, work.executions), ("work", 3, 98));
    let body = &report.blocks[0];
    assert_eq!(body.average, (45.0 + 2.0 * 50.0) / 95.0);
}

/// Two contexts that read the same 8 lines twice, with a store across a line border and a copy of
/// 200 bytes.
fn sharing() -> GraphBuilder {
    let mut b = builder("./sharing");
    let read = b.block("f", "f.c", 1, &[MemOp::load(8)]);
    let store = b.block("f", "f.c", 2, &[MemOp::store(8)]);
    let copy = b.block("f", "f.c", 3, &[MemOp::new(taskgraph::OpKind::Copy, 1, 1)]);
    for name in ["a", "b"] {
        let context = b.context(name);
        b.work(context, 0, 10, |w| {
            (0..16).for_each(|i| w.block(read, &[0x1_0000 + i % 8 * 64]));
        });
    }
    b.work(taskgraph::ContextId::new(0), 10, 20, |w| {
        w.block(store, &[0x2_003c]);
        w.block(copy, &[0x4_0000, 0x3_0020, 200]);
    });
    b
}

#[test]
fn private_caches_miss_what_a_shared_one_has() {
    let shared = cache(sharing(), "--sizes 64K");
    let private = cache(sharing(), "--sizes 64K --private");
    for (shared, private) in shared.points.iter().zip(&private.points) {
        assert_eq!(private.accesses, shared.accesses);
        assert_eq!(private.misses, shared.misses + 8, "{private:?}");
    }
}

#[test]
fn the_findings_are_what_brings_the_most_first_and_races_last() {
    let data = page(two());
    let findings: Vec<_> = data
        .findings
        .iter()
        .map(|finding| (finding.rank, finding.cause, finding.place.as_str()))
        .collect();
    // For the lock 150 us of 1600 us are lost. At the barrier 200 us are lost, 150 of them because
    // who comes last waited for the lock. Before the thread and after it 100 us each are lost.
    let lost = ["lock", "imbalance", "serial", "imbalance"];
    let of_order = findings.iter().filter(|finding| lost.contains(&finding.1));
    assert_eq!(of_order.map(|finding| finding.1).collect::<Vec<_>>(), lost, "{findings:?}");
    let lock = data.findings.iter().find(|f| f.cause == "lock").unwrap();
    assert_eq!((lock.share, lock.place.as_str()), (300.0 / 1600.0, "two.c:20"));
    assert!(
        lock.text.contains("waited for in work (two.c:31), meanwhile in work (two.c:20)"),
        "{}",
        lock.text
    );
    assert_eq!(findings.last().map(|last| last.1), Some("races"));
    let data = page(single());
    let causes: Vec<_> = data.findings.iter().map(|finding| finding.cause).collect();
    // One context on one processor is not idle, and its misses do not take a millisecond.
    assert!(causes.is_empty(), "{causes:?}");
}

#[test]
fn threads_of_code_that_was_not_compiled_with_contech_are_said_to_be() {
    let results = |cut: bool| {
        let mut b = builder("./partly");
        let line = b.block("main", "main.c", 5, &[]);
        let main = b.context("main");
        b.work(main, 0, 1000, |w| w.block(line, &[]));
        let thread = b.create(main);
        b.work(thread, 1000, 15_001_000, |_| {});
        if cut {
            b.cut(thread);
        } else {
            b.join(main, thread);
        }
        b.work(main, 15_001_000, 15_002_000, |w| w.block(line, &[]));
        page(b)
    };
    let data = results(false);
    let said = unrecorded(&data).expect("a finding");
    assert!(said.share > 0.99 && said.text.contains("no recorded code"), "{}", said.text);
    for finding in &data.findings {
        let blamed = finding.cause == "serial";
        assert!(!blamed || !finding.text.contains("main.c:5"), "{}", finding.text);
    }
    let advice = "Build it with contech-cc to see into it, unless it is the C library's.";
    assert!(said.text.ends_with(advice), "{}", said.text);
    // What a thread did when its recording was cut may be a loop, which is recorded when it ends.
    assert_eq!(unrecorded(&results(true)), None);
}

#[test]
fn of_several_calls_of_one_task_none_is_said_to_take_the_time() {
    // zlibVersion is called first, and is not what takes the time.
    let mut b = compressing(0);
    let first = b.block("pack", "pack.c", 6, &[]);
    inside(&mut b, first, "zlibVersion", 6);
    let compress = BlockId::new(0);
    let main = b.context("both");
    b.work(main, 0, 50_000_000, |w| {
        w.block(first, &[]);
        w.block(compress, &[]);
        w.block(compress, &[]);
    });
    let data = page(b);
    let text = &unrecorded(&data).expect("a finding").text;
    let said = "most of it in what is called in pack (pack.c:6) and later";
    assert!(text.contains(said), "{text}");
}

#[test]
fn code_after_the_limit_is_not_said_to_need_another_compiler() {
    for (of, reason) in [
        (AccessesOf::Limit, "the trace reached its limit after 1.00 us"),
        (AccessesOf::Region, "it is outside of the region of interest"),
        (AccessesOf::Sample, "it is outside of the sample"),
    ] {
        let mut b = compressing(0);
        let since_ns = (of == AccessesOf::Limit).then_some(1000);
        b.meta_mut().unrecorded = Some(Unrecorded { of, since_ns });
        let data = page(b);
        let text = &unrecorded(&data).expect("a finding").text;
        assert!(text.contains(reason), "{text}");
        assert!(!text.contains("Build it"), "{text}");
    }
}

/// Makes a block one that does not begin its function and ends in a call.
fn inside(b: &mut GraphBuilder, block: BlockId, callee: &str, line: u32) {
    b.info_mut().blocks[block.index()].flags &= !Block::ENTRY;
    calls(b, block, callee, line);
}

/// Two contexts that compress with a library nobody recorded, one after the other or at once.
fn compressing(gap: u64) -> GraphBuilder {
    let mut b = builder("./compress");
    b.meta_mut().processors = 2;
    let compress = b.block("pack", "pack.c", 7, &[]);
    let write = b.block("pack", "pack.c", 8, &[]);
    let prepare = b.block("prepare", "pack.c", 3, &[]);
    for (block, callee, line) in [(compress, "BZ2_compress", 7), (write, "write", 8)] {
        inside(&mut b, block, callee, line);
    }
    let main = b.context("main");
    let other = b.context("pack");
    for (context, from) in [(main, 0), (other, gap)] {
        b.work(context, from, from + 5_000_000, |w| {
            (0..20).for_each(|_| w.block(prepare, &[]));
            w.block(compress, &[]);
            w.block(write, &[]);
        });
    }
    b
}

#[test]
fn time_in_a_library_that_was_not_recorded_is_named_and_not_given_to_others() {
    for gap in [0, 5_000_000] {
        let data = page(compressing(gap));
        let said: Vec<_> = data.findings.iter().map(|f| (f.cause, f.share)).collect();
        let part = if gap > 0 { 0.5 } else { 1.0 };
        assert!(said.contains(&("unrecorded", part)), "{said:?}");
        for finding in &data.findings {
            match finding.cause {
                "unrecorded" => assert!(
                    finding.text.contains("BZ2_compress, called in pack (pack.c:7)"),
                    "{}",
                    finding.text
                ),
                "serial" => {
                    let own = finding.text.contains("most of it in pack (pack.c:7)");
                    assert!(own, "{}", finding.text);
                }
                _ => {}
            }
        }
        let serial = said.contains(&("serial", 0.5));
        assert_eq!(serial, gap > 0, "{said:?}");
    }
}

#[test]
fn a_run_whose_work_is_one_chain_is_not_told_to_use_more_processors() {
    // Work of 100 us, then nobody runs for 300, then 100 again: idle time is no parallelism.
    let mut b = builder("./chain");
    let step = b.block("step", "chain.c", 4, &[]);
    let main = b.context("main");
    b.context("idle");
    for at in [0, 400_000] {
        b.work(main, at, at + 100_000, |w| w.block(step, &[]));
    }
    let data = page(b);
    let said: Vec<_> = data.findings.iter().map(|f| (f.cause, f.share)).collect();
    assert_eq!(said, []);
    assert!(
        data.headline.starts_with(
            "A run of 200 us is too short to judge a program by. The recorded run took 500 us: the machine was busy, or"
        ),
        "{}",
        data.headline
    );
}

#[test]
fn a_graph_of_nothing_gives_empty_results() {
    let report = parallelism(nothing());
    assert_eq!((report.average, report.potential_average, report.contexts), (0.0, 0.0, 0));
    assert!(report.waits.is_empty() && report.places.is_empty());
    assert!(cache(nothing(), "").points.iter().all(|point| point.accesses == 0));
    assert!(found::<Blocks>("", &graph(nothing())).blocks.is_empty());
}

fn lanes(graph: &Graph) -> Vec<ActivityRow> {
    found::<Parallelism>("", graph).lanes.rows(graph)
}

#[test]
fn a_lane_shows_when_its_executor_runs_and_many_executors_share_lanes() {
    for executors in [100u64, 250] {
        let mut b = builder("./lanes");
        let block = b.block("body", "a.c", 1, &[]);
        let contexts: Vec<_> = (0..executors).map(|_| b.context("one")).collect();
        for (at, &context) in (1..).zip(&contexts) {
            b.work(context, 0, 10_000 * at, |w| w.block(block, &[]));
        }
        let rows = lanes(&graph(b));
        let (count, first) = match executors {
            100 => (100, "0 one"),
            _ => (84, "0–2"),
        };
        assert_eq!((rows.len(), rows[0].name.as_str()), (count, first));
        assert_eq!(rows[count - 1].name, format!("{} one", executors - 1));
        let levels = |row: usize| rows[row].states[0].levels.as_bytes();
        let (last, middle) = (levels(count - 1), levels(count / 2));
        assert!(last[..last.len() - 1].iter().all(|&level| level == b'/'));
        assert!(middle[..middle.len() / 2].iter().all(|&level| level == b'/'));
        assert!(middle.len() < last.len() * 2 / 3);
    }
}

#[test]
fn an_executor_runs_while_one_of_its_contexts_runs_and_otherwise_waits() {
    let mut b = builder("./tasks");
    let block = b.block("body", "a.c", 1, &[]);
    let main = b.context("main");
    let task = b.context("task");
    b.execute(task, 0);
    b.work(main, 0, 100_000, |w| w.block(block, &[]));
    b.sync_at(main, 8, SyncOp::MutexLock, 100_000, 400_000);
    b.work(task, 200_000, 300_000, |w| w.block(block, &[]));
    let rows = lanes(&graph(b));
    let name = rows.iter().map(|row| row.name.as_str());
    assert_eq!(name.collect::<Vec<_>>(), ["main"]);
    let bins = |name: &str| {
        let state = rows[0].states.iter().find(|state| state.name == name);
        let levels = state.expect("a state").levels.bytes();
        levels.map(|level| level == b'/').collect::<Vec<_>>()
    };
    let (running, lock) = (bins("running"), bins("lock"));
    assert_eq!(running.len(), 1000);
    for (at, (running, lock)) in running.into_iter().zip(lock).enumerate() {
        let expected = at < 250 || (500..750).contains(&at);
        assert_eq!((running, lock), (expected, !expected), "{at}");
    }
}
