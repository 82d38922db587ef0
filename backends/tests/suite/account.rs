//! The account of the processors' time: each loss is laid on the code that others waited for, and
//! all add up.

mod atomics;
mod births;
mod bulk;
mod pools;
mod spins;

use crate::graphs::{completed, found};
use crate::samples::{builder, calls, graph, nothing, two};
use contech_backends::account::{Account, Loss, Report, Row};
use contech_backends::diff::Report as Diff;
use contech_backends::view::Render;
use taskgraph::builder::GraphBuilder;
use taskgraph::{AllocKind, Block, BlockId, ContextId, MemOp, OpKind, SyncOp, TaskId};

const MS: u64 = 1_000_000;

fn account(builder: GraphBuilder, processors: u32) -> Report {
    let graph = graph(builder);
    let report = found::<Account>(&format!("--processors {processors}"), &graph);
    let work: u64 = graph.tasks().map(|task| task.unwrap().duration_ns()).sum();
    let placed: f64 = report.times.iter().sum();
    assert!(placed <= work as f64 * 1.000_001, "{placed} of {work}");
    let mut moments = vec![0.0; 64];
    for row in report.losses.iter().filter(|row| !row.when.is_empty()) {
        let all: f64 = row.when.iter().sum();
        assert!((all - row.ns as f64).abs() <= 1.0 + all * 1e-9, "{row:?}");
        for (sum, ns) in moments.iter_mut().zip(&row.when) {
            *sum += ns;
        }
    }
    let most = report.total_ns as f64 / 64.0;
    assert!(moments.iter().all(|&ns| ns <= most * 1.000_001 + 1.0), "{moments:?}, at most {most}");
    let lost: u64 = report.losses.iter().map(|row| row.ns).sum();
    let all = report.useful_ns + lost;
    assert!(all.abs_diff(report.total_ns) <= 20, "{report:?}");
    report
}

fn first(report: &Report) -> (Loss, u64, String) {
    let row = &report.losses[0];
    (row.cause, row.ns / MS, row.place())
}

/// Asserts how much faster the run is without its largest loss, on its own processors.
fn mended(report: &Report, expected: f64) {
    let found = &report.losses[0].mended;
    assert_eq!(found.len(), 1);
    assert!((found[0] - expected).abs() < 0.01, "{found:?}, not {expected}");
}

fn wait(row: &Row) -> String {
    row.wait.as_ref().unwrap().short()
}

/// Blocks of one program: what is done before, a call, what is done while others wait.
struct Code {
    own: BlockId,
    call: BlockId,
    held: BlockId,
}

fn program(callee: &str) -> (GraphBuilder, Code) {
    let mut b = builder("./program");
    let own = b.block("body", "a.c", 10, &[]);
    let call = b.block("body", "a.c", 20, &[]);
    let held = b.block("held", "a.c", 30, &[]);
    calls(&mut b, call, callee, 20);
    (b, Code { own, call, held })
}

/// A call of a library that was not recorded, and the block after it.
fn library_call(b: &mut GraphBuilder) -> [BlockId; 2] {
    let call = b.block("body", "a.c", 20, &[]);
    calls(b, call, "BZ2_compress", 20);
    let after = b.block("body", "a.c", 21, &[]);
    b.info_mut().blocks[after.index()].flags &= !Block::ENTRY;
    [call, after]
}

fn threads(b: &mut GraphBuilder) -> [ContextId; 2] {
    let main = b.context("main");
    [main, b.create(main)]
}

fn work(b: &mut GraphBuilder, context: ContextId, from: u64, to: u64, blocks: &[BlockId]) {
    b.work(context, from * MS, to * MS, |w| {
        blocks.iter().for_each(|&block| w.block(block, &[]));
    });
}

/// A thread that begins another one after 1 ms and has a lock from then until this time. Returns
/// both and where the lock is free.
fn holding(b: &mut GraphBuilder, code: &Code, until: u64) -> (ContextId, ContextId, TaskId) {
    let main = b.context("main");
    work(b, main, 0, 1, &[code.own]);
    let other = b.create(main);
    b.sync_at(main, 7, SyncOp::MutexLock, MS, MS);
    work(b, main, 1, until, &[code.held]);
    (main, other, b.sync_at(main, 7, SyncOp::MutexUnlock, until * MS, until * MS))
}

fn loss(report: &Report, cause: Loss) -> Option<&Row> {
    report.losses.iter().find(|row| row.cause == cause)
}

fn causes(report: &Report) -> Vec<Loss> {
    report.losses.iter().map(|row| row.cause).collect()
}

/// Two threads work for so many ms each, the first one in this code and the other one in what is
/// held.
fn shared([first, other]: [u64; 2], code_of: impl Fn(&Code) -> BlockId) -> Report {
    let (mut b, code) = program("");
    let [main, thread] = threads(&mut b);
    if first > 0 {
        work(&mut b, main, 0, first, &[code_of(&code)]);
    }
    work(&mut b, thread, 0, other, &[code.held]);
    b.join(main, thread);
    account(b, 2)
}

#[test]
fn a_wait_for_a_lock_is_laid_on_what_the_holder_does() {
    let (mut b, code) = program("pthread_mutex_lock");
    let (main, other, freed) = holding(&mut b, &code, 9);
    work(&mut b, main, 9, 10, &[code.own]);
    work(&mut b, other, 1, 2, &[code.own, code.call]);
    let taken = b.sync_at(other, 7, SyncOp::MutexLock, 2 * MS, 9 * MS);
    b.edge(freed, taken);
    work(&mut b, other, 9, 15, &[code.own]);
    b.join(main, other);
    let report = account(b, 2);
    // The other waits for 7 ms, and so it works alone for the last 5 ms.
    assert_eq!(first(&report), (Loss::Lock, 12, "a.c:30".to_owned()));
    assert_eq!(wait(&report.losses[0]), "a.c:20");
    assert!(loss(&report, Loss::Serial).is_some(), "before the thread");
    // Without the lock, the other does not wait; then the holder ends last, and more processors do
    // not change that.
    mended(&report, 1.5);
}

/// POP's efficiencies of a run of `ns` on two processors of which executors used so much, by their
/// definitions.
fn efficiencies(used: [f64; 2], ns: f64, ideal_ns: f64) -> [f64; 5] {
    let average = used.iter().sum::<f64>() / 2.0;
    let longest = used[0].max(used[1]);
    [average / ns, average / longest, longest / ns, longest / ideal_ns, ideal_ns / ns]
}

#[test]
fn the_efficiencies_of_pop_are_those_of_its_definitions() {
    let found = |report: &Report| {
        let pop = report.pop.expect("it ran");
        let product = pop.load_balance * pop.serialisation_efficiency * pop.transfer_efficiency;
        assert!((product - pop.parallel_efficiency).abs() < 1e-9, "{pop:?}");
        [
            pop.parallel_efficiency,
            pop.load_balance,
            pop.communication_efficiency,
            pop.serialisation_efficiency,
            pop.transfer_efficiency,
        ]
    };
    let near = |report: &Report, expected: [f64; 5]| {
        let found = found(report);
        let all = found.iter().zip(expected);
        assert!(all.into_iter().all(|(a, b)| (a - b).abs() < 0.001), "{found:?}, not {expected:?}");
    };
    // One thread works for 10 ms and the other one for so long: only the balance is bad.
    for other in [0, 5, 10] {
        near(&shared([other, 10], |code| code.own), efficiencies([10.0, other as f64], 10.0, 10.0));
    }
    // Each works for 10 ms, and the other one waits for 6 ms of them, and 0.05 ms more to go on.
    let (mut b, code) = program("sem_wait");
    let [main, other] = threads(&mut b);
    work(&mut b, main, 0, 6, &[code.held]);
    let freed = b.sync_at(main, 7, SyncOp::SemPost, 6 * MS, 6 * MS);
    work(&mut b, main, 6, 10, &[code.own]);
    let late = MS / 20;
    let taken = b.sync_at(other, 7, SyncOp::SemWait, 0, 6 * MS + late);
    b.edge(freed, taken);
    b.work(other, 6 * MS + late, 16 * MS + late, |w| w.block(code.own, &[]));
    b.join(main, other);
    let report = account(b, 2);
    near(&report, efficiencies([10.0, 10.0], 16.05, 16.0));
    let said =
        "POP: parallel efficiency 62% = load balance 100% x serialisation 62% x transfer 100%.";
    assert_eq!(report.pop.expect("it ran").sentence(), said);
}

#[test]
fn the_code_that_is_named_is_what_executed_most_instructions() {
    let (mut b, code) = program("pthread_mutex_lock");
    let heavy = b.block("heavy", "a.c", 40, &[]);
    b.info_mut().blocks[heavy.index()].ir_ops = 6;
    let main = b.context("main");
    work(&mut b, main, 0, 8, &[code.held, heavy, code.held, code.held]);
    let named = first(&account(b, 2));
    assert_eq!(named, (Loss::Serial, 8, "a.c:40".to_owned()));
}

#[test]
fn whoever_waits_for_a_waiting_context_waits_for_what_that_waits_for() {
    // The third waits for the second, which waits for the first.
    let (mut b, code) = program("pthread_mutex_lock");
    let contexts = ["a", "b", "c"].map(|name| b.context(name));
    b.sync_at(contexts[0], 1, SyncOp::MutexLock, 0, 0);
    work(&mut b, contexts[0], 0, 6, &[code.held]);
    let mut freed = b.sync_at(contexts[0], 1, SyncOp::MutexUnlock, 6 * MS, 6 * MS);
    for (&context, from) in contexts[1..].iter().zip([6, 7]) {
        work(&mut b, context, 0, 1, &[code.call]);
        let taken = b.sync_at(context, 1, SyncOp::MutexLock, MS, from * MS);
        b.edge(freed, taken);
        work(&mut b, context, from, from + 1, &[code.own]);
        freed = b.sync_at(context, 1, SyncOp::MutexUnlock, (from + 1) * MS, (from + 1) * MS);
    }
    let report = account(b, 3);
    // Two wait for 5 ms, one for 1 ms more, and because of that both come late to their ends.
    assert_eq!(first(&report), (Loss::Lock, 14, "a.c:30".to_owned()));
}

/// Two contexts wait for each other by a condition; `also`: the one that is waited for waits at the
/// same call.
fn words(also: bool) -> Report {
    let (mut b, code) = program("pthread_cond_wait");
    // What is made is not made by a caller of the code that waits.
    b.info_mut().blocks[code.call.index()].flags &= !Block::ENTRY;
    let contexts = [b.context("main"), b.context("other")];
    for context in contexts {
        work(&mut b, context, 0, 0, &[code.own]);
    }
    let mut said = None;
    for turn in 0..8u64 {
        let own = contexts[(turn % 2) as usize];
        let (from, to) = (turn * 10, turn * 10 + 9);
        if !also && own == contexts[0] {
            // It makes something without waiting for anybody.
            work(&mut b, own, from, to + 10, &[code.held]);
            said = Some(b.sync_at(own, 5, SyncOp::CondSignal, (to + 10) * MS, (to + 10) * MS));
            continue;
        }
        if let Some(said) = said {
            let end = if also { 9 } else { 10 };
            let begin = if turn == 1 { 0 } else { (turn - 2) * 10 + end };
            let until = if also { from } else { to };
            work(&mut b, own, begin, begin, &[code.call]);
            let woken = b.sync_at(own, 5, SyncOp::CondWake, begin * MS, until * MS);
            b.edge(said, woken);
        }
        if !also {
            work(&mut b, own, to, to + 1, &[code.own]);
        }
        if also {
            work(&mut b, own, from, to, &[code.held]);
            said = Some(b.sync_at(own, 5, SyncOp::CondSignal, to * MS, to * MS));
        }
    }
    account(b, 2)
}

#[test]
fn contexts_that_wait_for_each_other_at_one_place_take_turns() {
    let report = words(true);
    assert_eq!(report.losses[0].cause, Loss::Handover, "{report:?}");
    let row = &report.losses[0];
    assert_eq!((row.place(), wait(row)), ("a.c:30".into(), "a.c:20".into()));
}

#[test]
fn a_context_that_waits_for_what_another_makes_waits_for_a_producer() {
    let report = words(false);
    assert_eq!(report.losses[0].cause, Loss::Producer, "{report:?}");
    assert_eq!(report.losses[0].place(), "a.c:30");
}

#[test]
fn a_wrapper_of_a_wait_gives_way_to_its_caller() {
    let mut b = builder("./wrapped");
    let caller = b.block("consume", "a.c", 40, &[]);
    let wrapper = b.block("pop", "a.c", 20, &[]);
    let make = b.block("make", "a.c", 30, &[]);
    calls(&mut b, caller, "pop", 41);
    calls(&mut b, wrapper, "sem_wait", 20);
    b.info_mut().blocks[wrapper.index()].flags = Block::ENTRY;
    let (main, other) = (b.context("main"), b.context("other"));
    work(&mut b, main, 0, 10, &[make]);
    let posted = b.sync_at(main, 5, SyncOp::SemPost, 10 * MS, 10 * MS);
    work(&mut b, other, 0, 1, &[caller, wrapper]);
    let taken = b.sync_at(other, 5, SyncOp::SemWait, MS, 10 * MS);
    b.edge(posted, taken);
    let report = account(b, 2);
    assert_eq!(wait(&report.losses[0]), "a.c:41");
    assert_eq!(report.losses[0].inner.as_ref().unwrap().short(), "a.c:20");
}

#[test]
fn who_comes_late_because_it_had_no_processor_has_no_larger_share_of_the_work() {
    for at_barrier in [true, false] {
        let (mut b, code) = program("pthread_barrier_wait");
        let main = b.context("main");
        let [one, other] = [b.create(main), b.create(main)];
        work(&mut b, one, 0, 4, &[code.own, code.call]);
        work(&mut b, other, 0, 2, &[code.own]);
        work(&mut b, other, 8, 10, &[code.own, code.call]);
        if at_barrier {
            b.barrier(&[one, other], 9);
        }
        b.join(main, one);
        b.join(main, other);
        let report = account(b, 2);
        assert!(report.losses.is_empty(), "{report:?}");
        let took = [report.duration_ns, report.replayed_ns];
        assert_eq!(took, [10 * MS, 4 * MS]);
        let said = report.sentence();
        assert!(
            said.starts_with("The recorded run took 10.0 ms: the machine was busy, or"),
            "{said}"
        );
    }
}

#[test]
fn the_last_at_work_in_a_phase_has_too_much_of_it_and_one_alone_is_serial() {
    for (other, cause) in [(5, Loss::Imbalance), (0, Loss::Serial)] {
        let report = shared([other, 10], |code| code.own);
        assert_eq!(first(&report), (cause, 10 - other, "a.c:30".to_owned()));
        mended(&report, if other == 0 { 2.0 } else { 10.0 / 7.5 });
        assert_eq!(report.predicted.greedy, [1.0]);
    }
}

#[test]
fn who_has_little_to_gain_is_told_so() {
    let said = shared([98, 100], |code| code.own).sentence();
    let expected = "There is little to gain: the largest loss that the program could avoid is 1.0% (2.00 ms), load imbalance";
    assert!(said.contains(expected), "{said}");
}

#[test]
fn who_lacks_a_processor_works_on_one_at_once() {
    let (mut b, code) = program("");
    let [main, thread] = threads(&mut b);
    work(&mut b, thread, 0, 100, &[code.held]);
    work(&mut b, main, 0, 1, &[code.own]);
    work(&mut b, main, 50, 51, &[code.own]);
    b.join(main, thread);
    let report = account(b, 2);
    assert_eq!(first(&report), (Loss::Serial, 98, "a.c:30".to_owned()), "{report:?}");
}

#[test]
fn who_sleeps_with_a_lock_that_others_wait_for_is_told_of_the_lock() {
    let (mut b, code) = program("usleep");
    let threads = ["one", "other"].map(|name| b.context(name));
    let mut free = None;
    for &thread in &threads {
        work(&mut b, thread, 0, 0, &[code.own]);
    }
    for round in 0..10 {
        // They take the lock in turn, sleep with it for 4 ms, and work for 1 ms after.
        for (number, &thread) in (0..).zip(&threads) {
            let at = 8 * round + 4 * number;
            let from = if round == 0 { 0 } else { at - 3 };
            let locked = b.sync_at(thread, 9, SyncOp::MutexLock, from * MS, at * MS);
            if let Some(free) = free.filter(|_| at > from) {
                b.edge(free, locked);
            }
            work(&mut b, thread, at, at, &[code.call]);
            b.sync_at(thread, 0, SyncOp::Sleep, at * MS, (at + 4) * MS);
            free = Some(b.sync_at(thread, 9, SyncOp::MutexUnlock, (at + 4) * MS, (at + 4) * MS));
            work(&mut b, thread, at + 4, at + 5, &[code.own]);
        }
    }
    let report = account(b, 2);
    let first = &report.losses[0];
    assert_eq!(first.cause, Loss::Io, "{report:?}");
    assert!(first.lock.is_some(), "{report:?}");
    // Both sleep at the same time without the lock: five ms for each round.
    mended(&report, 81.0 / 50.0);
}

#[test]
fn who_waits_for_a_signal_of_the_program_does_not_sleep() {
    let (mut b, code) = program("sigwait");
    let (main, other) = (b.context("main"), b.context("other"));
    work(&mut b, main, 0, 10, &[code.held]);
    work(&mut b, other, 0, 0, &[code.call]);
    b.sync_at(other, 0, SyncOp::Sleep, 0, 30 * MS);
    // The machine was busy, so the signal came 20 ms after it was sent.
    let sent = b.sync_at(main, 7, SyncOp::Send, 10 * MS, 10 * MS);
    let came = b.sync_at(other, 7, SyncOp::Receive, 30 * MS, 30 * MS);
    b.edge(sent, came);
    work(&mut b, other, 30, 32, &[code.own]);
    let report = account(b, 2);
    assert!(loss(&report, Loss::Io).is_none(), "{report:?}");
    assert_eq!(report.losses[0].cause, Loss::Message, "{report:?}");
    assert_eq!(report.replayed_ns, 12 * MS);
}

#[test]
fn who_sleeps_between_pieces_of_work_loses_by_it_and_who_only_sleeps_does_not() {
    for (ran, recorded, cause) in
        [(2, true, Loss::Io), (2, false, Loss::Io), (0, false, Loss::Serial)]
    {
        let (mut b, code) = program("usleep");
        let (main, other) = (b.context("main"), b.context("other"));
        work(&mut b, main, 0, 10, &[code.held]);
        work(&mut b, other, 0, ran, &[code.own]);
        if recorded {
            work(&mut b, other, ran, ran, &[code.call]);
            b.sync_at(other, 0, SyncOp::Sleep, ran * MS, 10 * MS);
        } else {
            work(&mut b, other, ran, 10, &[code.call]);
        }
        let report = account(b, 2);
        assert_eq!(report.losses[0].cause, cause, "{report:?}");
        assert_eq!(report.losses[0].ns, (10 - ran) * MS);
        if cause == Loss::Io {
            assert_eq!(wait(&report.losses[0]), "a.c:20");
            mended(&report, 1.0);
        }
    }
}

#[test]
fn barriers_after_little_work_are_what_costs_and_otherwise_it_is_the_work() {
    // Who is late each time has more to do, however little that is.
    let cases = [
        (20_000, true, Loss::Barrier),
        (20_000, false, Loss::Imbalance),
        (2 * MS, true, Loss::Imbalance),
    ];
    for (step, in_turn, cause) in cases {
        let (mut b, code) = program("pthread_barrier_wait");
        let contexts = [b.context("main"), b.context("other")];
        for at in 0..10 {
            let late = if in_turn { at % 2 } else { 1 };
            for (number, &context) in (0..).zip(&contexts) {
                let ns = if number == late { step * 2 } else { step };
                let from = at * step * 2;
                b.work(context, from, from + ns, |w| w.block(code.call, &[]));
            }
            b.barrier(&contexts, 9);
        }
        let report = account(b, 2);
        assert_eq!(report.losses[0].cause, cause, "{report:?}");
        assert_eq!(wait(&report.losses[0]), "a.c:20");
    }
}

#[test]
fn many_small_tasks_cost_at_the_place_that_makes_them() {
    let (mut b, code) = program("make");
    let main = b.context("main");
    for at in 0..1200 {
        b.work(main, at * 1000, (at + 1) * 1000, |w| w.block(code.call, &[]));
        let task = b.create(main);
        b.work(task, (at + 1) * 1000, at * 1000 + 1500, |w| w.block(code.held, &[]));
    }
    let report = account(b, 2);
    let row = loss(&report, Loss::Scheduling);
    assert_eq!(row.map(Row::place).as_deref(), Some("a.c:20"), "{report:?}");
    let grain = report.grain.unwrap();
    assert_eq!(grain.pieces, 1201);
    let lost = row.map_or(0, |row| row.ns);
    assert_eq!((grain.ns, grain.metg_ns), (report.useful_ns / 1201, lost / 1201));
    // Each of them executes a few instructions, which take far less than handing it out, whatever
    // was recorded.
    assert!(row.is_some_and(|row| row.mended[0] > 20.0), "{row:?}");
}

fn text(diff: &Diff) -> String {
    let mut text = Vec::new();
    diff.view().write_text(&mut text, contech_backends::view::Screen::file()).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn the_difference_of_two_runs_is_what_was_lost_in_one_of_them() {
    // What one context did alone is done by two.
    let [before, after] = [[10, 0], [5, 5]].map(|share| shared(share, |code| code.held));
    let diff = Diff::of([&[before], &[after]]);
    assert_eq!(diff.duration_ns, [10 * MS, 5 * MS]);
    let most = &diff.changes[0];
    assert_eq!((most.cause, most.ns, most.place.as_str()), ("serial", [10 * MS, 0], "a.c:30"));
    let program = diff.changes.iter().find(|change| change.cause == "the program");
    assert_eq!(program.map(|change| change.ns), Some([10 * MS, 10 * MS]));
    let text = text(&diff);
    assert!(text.contains("10.0 ms became 5.00 ms, 2.00 times as fast."), "{text}");
    assert!(text.contains("-10.0 ms") && text.lines().count() <= 20, "{text}");
}

#[test]
fn repeats_tell_what_two_versions_differ_by() {
    // Of a program's runs, each of 10 ms and a bit, the one thread does all or half of the work.
    let runs =
        |share: [u64; 2]| [0, 1, 2].map(|bit| shared([share[0] + bit, share[1]], |code| code.held));
    let [alone, shared] = [runs([10, 0]), runs([5, 5])];
    let differ = Diff::of([&alone, &shared]);
    let serial = &differ.changes[0];
    assert_eq!((serial.cause, serial.repeats), ("serial", Some(true)));
    let text = text(&differ);
    assert!(text.contains("11.0 ms (10.0 ms to 12.0 ms in 3 runs)"), "{text}");
    assert!(text.contains("beyond chance"), "{text}");

    let same = self::text(&Diff::of([&alone[..2], &alone]));
    assert!(same.contains("nothing that repeats of one of them would not"), "{same}");
}

#[test]
fn what_the_recording_took_is_not_counted() {
    let (mut b, code) = program("");
    let main = b.context("main");
    work(&mut b, main, 0, 5, &[code.own]);
    b.sync_at(main, 0, SyncOp::Delay, 5 * MS, 9 * MS);
    work(&mut b, main, 9, 10, &[code.own]);
    let report = account(b, 1);
    assert_eq!((report.total_ns, report.useful_ns), (6 * MS, 6 * MS));
    assert_eq!((report.recording_ns, report.losses.len()), (4 * MS, 0));
}

#[test]
fn the_processors_are_the_recorded_ones_or_the_most_that_ran() {
    let of = |recorded: u32| {
        let mut b = two();
        b.meta_mut().processors = recorded;
        let report = found::<Account>("", &graph(b));
        (report.processors, report.recorded)
    };
    assert_eq!((of(8), of(0)), ((8, true), (2, false)));
}

#[test]
fn processors_without_a_thread_are_a_loss_of_their_own() {
    let report = account(two(), 4);
    assert_eq!(report.losses[0].cause, Loss::Threads, "{report:?}");
}

/// The loss to caches of a program that fills an array and then reads it as the addresses say, in
/// 10 ms.
fn cached(lines: u64, read: impl Iterator<Item = u64>) -> Option<Row> {
    cached_in(10 * MS, lines, read)
}

fn cached_in(length: u64, lines: u64, read: impl Iterator<Item = u64>) -> Option<Row> {
    let mut b = builder("./cached");
    let fill = b.block("fill", "c.c", 10, &[MemOp::store(8)]);
    let again = b.block("again", "c.c", 20, &[MemOp::load(8)]);
    let main = b.context("main");
    b.work(main, 0, length, |w| {
        (0..lines).for_each(|line| w.block(fill, &[0x100_0000 + 64 * line]));
        read.for_each(|line| w.block(again, &[0x100_0000 + 64 * line]));
    });
    estimated(b, Loss::Cache)
}

/// The loss with what the models say.
fn estimated(builder: GraphBuilder, loss: Loss) -> Option<Row> {
    self::loss(&completed::<Account>("", &graph(builder)), loss).cloned()
}

#[test]
fn a_variable_that_all_threads_change_costs_as_often_as_its_line_moves() {
    let shared = |apart: u64| {
        let mut b = builder("./counter");
        let add = b.block("add", "c.c", 10, &[MemOp::load(8), MemOp::store(8)]);
        let [main, other] = threads(&mut b);
        for (context, place) in [(main, 0), (other, apart)] {
            let at = 0x100_0000 + place;
            b.work(context, 0, MS, |w| {
                (0..10_000).for_each(|_| w.block(add, &[at, at]));
            });
        }
        b.join(main, other);
        estimated(b, Loss::Sharing)
    };
    assert_eq!(shared(256), None);
    let row = shared(0).unwrap();
    assert!(row.place() == "c.c:10" && row.share > 0.2, "{row:?}");
}

#[test]
fn blocks_from_the_kernel_cost_their_pages_each_time_but_the_first() {
    let allocated = |times: u64, bytes: u64| {
        let (mut b, code) = program("malloc");
        let main = b.context("main");
        b.work(main, 0, 10 * MS, |w| {
            for _ in 0..times {
                w.block(code.call, &[]);
                w.alloc(0x10_0000, bytes, AllocKind::Malloc);
                w.free(0x10_0000);
            }
            (0..1_000_000).for_each(|_| w.block(code.own, &[]));
        });
        estimated(b, Loss::Allocation).map_or(0.0, |row| row.share)
    };
    let [small, large] = [1 << 20, 64 << 20].map(|bytes| allocated(20, bytes));
    assert!(small < 0.01 && large > 0.9, "{small} {large}");
    assert!(allocated(1, 64 << 20) < 0.01, "needed in any case");
}

#[test]
fn pieces_of_a_loop_and_what_is_allocated_for_them_are_scheduling() {
    let (mut b, code) = program("__kmpc_dispatch_next_4");
    let main = b.context("main");
    b.work(main, 0, 10 * MS, |w| {
        for _ in 0..10_000 {
            w.block(code.call, &[]);
            w.alloc(0x10_0000, 64, AllocKind::Malloc);
            w.free(0x10_0000);
            w.block(code.own, &[]);
        }
    });
    let report = completed::<Account>("", &graph(b));
    assert_eq!(first(&report).2, "a.c:20");
    assert_eq!(causes(&report), [Loss::Scheduling], "{report:?}");
}

#[test]
fn the_start_of_mpi_comes_last_and_a_collective_waits_for_who_has_more_to_do() {
    let (mut b, code) = program("MPI_Allreduce");
    let ranks = [b.context("0"), b.context("1")];
    let mut arrived = Vec::new();
    for (rank, until) in ranks.into_iter().zip([30, 60]) {
        b.sync_at(rank, 0, SyncOp::MpiInit, 0, 20 * MS);
        work(&mut b, rank, 20, until, &[code.own, code.held, code.call]);
        let all = b.sync_at(rank, 5, SyncOp::MpiAllreduce, until * MS, 60 * MS);
        arrived.push(all);
        work(&mut b, rank, 60, 61, &[code.own]);
    }
    b.edge(arrived[1].previous().unwrap(), arrived[0]);
    let report = account(b, 2);
    assert_eq!(causes(&report), [Loss::Imbalance, Loss::Startup], "{report:?}");
}

#[test]
fn only_lines_that_a_cache_had_before_are_lost_and_least_when_they_are_fetched_ahead() {
    let lines = 1 << 15; // 2 MiB
    assert_eq!(cached(lines, std::iter::empty()), None, "new lines");
    let in_order = cached(lines, 0..lines).unwrap();
    let mixed = cached(lines, (0..lines).map(|i| i * 4801 % lines)).unwrap();
    assert_eq!([in_order.place(), mixed.place()], ["c.c:20", "c.c:20"]);
    let cost = |row: &Row| row.share / (1.0 - row.share);
    assert!(cost(&mixed) > 5.0 * cost(&in_order), "{in_order:?} {mixed:?}");
}

#[test]
fn time_that_no_recorded_code_can_take_is_not_lost_to_caches() {
    let lines = 1 << 15;
    let lost = |length| cached_in(length, lines, (0..lines).map(|i| i * 4801 % lines));
    let [slow, endless, longer] = [MS, 1000 * MS, 2000 * MS].map(|length| lost(length).unwrap());
    assert!(slow.share > 0.2, "{slow:?}");
    assert!(endless.share < 0.02, "{endless:?}");
    assert_eq!(endless.ns, longer.ns, "the rest is spent elsewhere");
}

/// A lock that is handed over by 9 ms, and taken when its thread gets a processor; `asks`: the
/// thread has one before, so that it asks at 1 ms.
fn handed_over(asks: bool, taken_ms: u64) -> Report {
    let (mut b, code) = program("pthread_mutex_lock");
    b.meta_mut().processors = 2;
    let fill = b.block("held", "a.c", 30, &[MemOp::new(OpKind::Set, 0, 0)]);
    let [main, other] = ["main", "other"].map(|name| b.context(name));
    let busy = |b: &mut GraphBuilder, context, from: u64, to: u64| {
        b.work(context, from * MS, to * MS, |w| w.block(fill, &[0x1000, 1 << 20]));
    };
    busy(&mut b, main, 0, 9);
    busy(&mut b, other, 0, 1);
    let asked = if asks { 1 } else { taken_ms };
    let freed = b.sync_at(main, 7, SyncOp::MutexUnlock, 9 * MS, 9 * MS);
    if !asks {
        work(&mut b, other, 1, taken_ms, &[code.call]);
    }
    let taken = b.sync_at(other, 7, SyncOp::MutexLock, asked * MS, taken_ms * MS);
    b.edge(freed, taken);
    busy(&mut b, other, taken_ms, taken_ms + 2);
    account(b, 2)
}

#[test]
fn who_has_no_processor_before_a_lock_waits_for_the_lock_as_long_as_it_is_held() {
    // It waits for 8 ms and comes late to its end, 2 ms after the other one.
    for asks in [true, false] {
        let report = handed_over(asks, 9);
        assert_eq!(first(&report), (Loss::Lock, 10, "a.c:30".into()), "{asks}");
    }
    let late = handed_over(true, 29);
    assert_eq!(first(&late), (Loss::Lock, 10, "a.c:30".into()));
    assert!(late.replayed_ns < 12 * MS, "{late:?}");
}

#[test]
fn who_waits_for_a_thread_without_a_processor_waits_for_its_work() {
    let (mut b, code) = program("pthread_mutex_lock");
    let [main, other] = threads(&mut b);
    b.sync_at(main, 7, SyncOp::MutexLock, 0, 0);
    work(&mut b, main, 0, 2, &[code.held]);
    work(&mut b, main, 8, 10, &[code.held]);
    let freed = b.sync_at(main, 7, SyncOp::MutexUnlock, 10 * MS, 10 * MS);
    work(&mut b, other, 0, 1, &[code.own, code.call]);
    let taken = b.sync_at(other, 7, SyncOp::MutexLock, MS, 10 * MS);
    b.edge(freed, taken);
    let report = account(b, 2);
    assert_eq!(first(&report), (Loss::Lock, 3, "a.c:30".to_owned()));
}

#[test]
fn what_code_that_is_not_recorded_does_is_not_laid_on_what_is_known_of_the_rest() {
    let mut b = builder("./library");
    let [call, after] = library_call(&mut b);
    let main = b.context("main");
    b.work(main, 0, 10 * MS, |w| {
        w.block(call, &[]);
        w.block(after, &[]);
        w.alloc(0x1000, 64, AllocKind::Malloc);
    });
    let report = completed::<Account>("", &graph(b));
    assert_eq!((report.useful_ns, report.losses.len()), (10 * MS, 0));
}

#[test]
fn a_run_without_time_and_one_without_threads_are_said_first() {
    let none = account(nothing(), 2).sentence();
    assert!(none.starts_with("Nothing was recorded: "), "{none}");
    let mut b = builder("./alone");
    let block = b.block("main", "a.c", 3, &[]);
    let main = b.context("main");
    b.work(main, 0, 5 * MS, |w| w.block(block, &[]));
    let alone = account(b, 2).sentence();
    assert!(alone.starts_with("The program ran in one thread. "), "{alone}");
    assert!(!account(two(), 2).sentence().contains("one thread"));
}

#[test]
fn who_tries_for_a_lock_again_and_again_waits_for_it() {
    let (mut b, code) = program("pthread_mutex_trylock");
    let (main, other, freed) = holding(&mut b, &code, 9);
    work(&mut b, main, 9, 10, &[code.own]);
    work(&mut b, other, 1, 2, &[code.own, code.call]);
    for at in 2..9 {
        b.sync_at(other, 7, SyncOp::MutexTryFail, at * MS, at * MS);
        work(&mut b, other, at, at + 1, &[code.call]);
    }
    let taken = b.sync_at(other, 7, SyncOp::MutexLock, 9 * MS, 9 * MS);
    b.edge(freed, taken);
    work(&mut b, other, 9, 14, &[code.own]);
    // A try that is not repeated is no wait, whatever follows it.
    b.sync_at(other, 8, SyncOp::MutexTryFail, 14 * MS, 14 * MS);
    work(&mut b, other, 14, 15, &[code.own]);
    b.join(main, other);
    let report = account(b, 2);
    assert_eq!(first(&report), (Loss::Lock, 12, "a.c:30".to_owned()));
    assert_eq!(wait(&report.losses[0]), "a.c:20");
}

#[test]
fn a_wait_for_a_lock_that_ran_out_of_time_is_a_wait() {
    let (mut b, code) = program("pthread_mutex_timedlock");
    let (main, other, _) = holding(&mut b, &code, 12);
    work(&mut b, other, 1, 2, &[code.own, code.call]);
    b.sync_at(other, 7, SyncOp::MutexTryFail, 2 * MS, 10 * MS);
    work(&mut b, other, 10, 12, &[code.own]);
    b.join(main, other);
    let report = account(b, 2);
    // It would have had to wait as long for nothing, too.
    let found = loss(&report, Loss::Lock).map(|row| (row.ns / MS, wait(row), row.mended[0]));
    assert_eq!(found, Some((8, "a.c:20".to_owned(), 1.0)), "{report:?}");
}

#[test]
fn taking_a_free_lock_again_and_again_costs_what_its_operations_take() {
    let (mut b, code) = program("pthread_mutex_lock");
    let add = b.block("add", "a.c", 50, &[MemOp::new(OpKind::Rmw, 8, 0)]);
    let main = b.context("main");
    b.work(main, 0, MS, |w| {
        (0..1000).for_each(|_| w.block(code.call, &[]));
        (0..1000).for_each(|_| w.block(add, &[0x1000]));
    });
    let report = account(b, 1);
    let locking = &report.losses[0];
    assert_eq!(locking.cause, Loss::Locking, "{report:?}");
    assert_eq!(locking.place(), "a.c:20");
    // A pair of operations takes longer than an instruction, and recording is no more than ten
    // times as slow.
    assert_eq!(locking.ns, 10 * 1000 * (17 + 5));
}

/// Two contexts work for 10 ms each and never meet. Nine parts in ten of what one does are between
/// these operations.
fn sections([first, last]: [SyncOp; 2]) -> Report {
    let (mut b, code) = program("f");
    let [main, other] = threads(&mut b);
    for context in [main, other] {
        b.work(context, 0, 10 * MS, |w| {
            for _ in 0..100 {
                w.sync(first, 7);
                (0..9).for_each(|_| w.block(code.held, &[]));
                w.sync(last, 7);
                w.block(code.own, &[]);
            }
        });
    }
    b.join(main, other);
    account(b, 2)
}

#[test]
fn an_atomic_word_that_contexts_take_and_give_back_is_a_lock() {
    // A subtraction gives back as well as a store of zero does.
    for lock in [
        [SyncOp::AtomicTake, SyncOp::AtomicGive],
        [SyncOp::AtomicTake, SyncOp::AtomicRmw],
        [SyncOp::MutexLock, SyncOp::MutexUnlock],
    ] {
        let report = sections(lock);
        assert_eq!(report.losses[0].cause, Loss::Lock, "{report:?}");
        assert_eq!(report.losses[0].place(), "a.c:30");
        // One has the lock for 9 ms, and then the other, but for a section.
        let replayed = report.replayed_ns as f64 / MS as f64;
        assert!((17.9..20.0).contains(&replayed), "{replayed}");
    }
    // A word that is only taken, and one that is only given back, are no locks.
    for op in [SyncOp::AtomicTake, SyncOp::AtomicGive] {
        let report = sections([op, op]);
        assert_eq!(report.replayed_ns, 10 * MS, "{report:?}");
    }
}
