#![allow(unsafe_code, reason = "stands in for instrumented code, which writes at the cursor")]
//! Behaviour of whole recordings: what threads record is what the reader finds.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::thread::JoinHandle;

use contech_trace::abi::{ABI_VERSION, MODULE_MAGIC, ModuleDescriptor};
use contech_trace::event::{AllocKind, EndReason, Event, SyncOp, TEAM_STREAMS};
use contech_trace::fast::{Decoder, Sink};
use contech_trace::file::{ChunkHeader, ChunkKind, ModuleLoad, RunInfo, Totals};
use contech_trace::program::Program;
use contech_trace::reader::{ChunkReader, Next};
use contech_trace::table::{Block, Function, ModuleTable};

use crate::append::Sync;
use crate::finish::Finish;
use crate::handler::{Entered, Entry};
use crate::host::Host;
use crate::modules::FoundModule;
use crate::options::Options;
use crate::recorder::{Recorder, Start};
use crate::tls::{ENDED, Lane, TlsBlock};
use crate::{memory, registry};

const BASE: u32 = 0x20_0000;

/// Who writes.
enum Writer {
    /// A thread.
    Thread(Mutex<Option<JoinHandle<()>>>),
    /// The threads that record, because no other can be started.
    NoThread,
    /// Nobody may start a thread.
    Never,
}

impl Host for Writer {
    fn start_writer(&self, write: Box<dyn FnOnce() + Send>) -> bool {
        match self {
            Writer::Thread(running) => {
                let started = std::thread::spawn(write);
                running.lock().unwrap().replace(started).is_none()
            }
            Writer::NoThread => false,
            Writer::Never => panic!("a thread is made"),
        }
    }
    fn join_writer(&self) {
        if let Writer::Thread(running) = self {
            running.lock().unwrap().take().unwrap().join().unwrap();
        }
    }
    fn watch_thread_end(&self) {}
}

/// A trace in a file of its own, removed at the end.
struct Run {
    recorder: &'static Recorder,
    path: PathBuf,
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn run(host: &'static dyn Host, more: &[(&str, &str)]) -> Run {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name =
        format!("contech-core-{}-{}.bin", memory::process_id(), NUMBER.fetch_add(1, Relaxed));
    let path = std::env::temp_dir().join(name);
    let text = path.to_str().unwrap().to_owned();
    let get = |name: &str| match more.iter().find(|(n, _)| *n == name) {
        Some((_, value)) => Some((*value).to_owned()),
        None => (name == "CONTECH_TRACE").then(|| text.clone()),
    };
    let (options, warnings, effective) = Options::read(get, 1 << 30);
    assert_eq!(warnings, [""; 0]);
    let start = Start { options, effective, parent: 0, modules: vec![module(BASE, "program")] };
    Run { recorder: Recorder::start(start, host), path }
}

fn table() -> ModuleTable {
    ModuleTable {
        functions: vec![Function { name: "f".into(), file: "f.c".into(), line: 1 }],
        blocks: vec![Block::default(); 8],
        ..ModuleTable::default()
    }
}

fn module(base: u32, object: &str) -> FoundModule {
    FoundModule {
        address: base as usize,
        descriptor: ModuleDescriptor {
            magic: MODULE_MAGIC,
            abi: ABI_VERSION,
            ids: u64::from(base),
            id_count: 8,
            ..ModuleDescriptor::default()
        },
        globals: &[],
        table: table().encode().leak(),
        object: object.into(),
        load_address: 0,
    }
}

/// Does what the code that the pass emits does at the start of a block.
fn block(recorder: &'static Recorder, tls: &TlsBlock, k: u32) {
    let mut at = tls.cursor();
    if at >= tls.limit() {
        at = recorder.flush(tls, at);
    }
    write_block(tls, at, k);
}

fn write_block(tls: &TlsBlock, at: *mut u8, k: u32) {
    // SAFETY: the check of `block` leaves room.
    unsafe {
        at.cast::<u32>().write_unaligned(BASE + k);
        tls.set_cursor(at.add(4));
    }
}

fn finish(recorder: &'static Recorder, tls: &TlsBlock) {
    recorder.finish(tls, &Finish::by(EndReason::ProcessExit));
}

/// One record as text: `b3` for a block, else the event.
#[derive(Debug, PartialEq, Eq, Clone)]
enum Seen {
    Block(u32),
    Event(Event),
}

#[derive(Debug, Default)]
struct Trace {
    /// Records by context, each context's chunks in order.
    contexts: std::collections::BTreeMap<u32, Vec<Seen>>,
    /// Blocks by level, of all contexts.
    levels: std::collections::BTreeMap<u8, Vec<u32>>,
    /// Positions, which come at any time, and the number of records of the context before each.
    positions: Vec<(usize, Event)>,
    totals: Vec<Totals>,
    damage: usize,
    /// Bytes of check streams.
    checks: usize,
    chunks: Vec<ChunkKind>,
}

fn read(run: &Run) -> Trace {
    let bytes = std::fs::read(&run.path).unwrap();
    let (_, mut reader) = ChunkReader::new(bytes.as_slice()).unwrap().unwrap();
    let mut program = Program::default();
    let mut seqs = std::collections::BTreeMap::<(u8, u32), u64>::new();
    let mut trace = Trace::default();
    loop {
        let chunk = match reader.next_chunk().unwrap() {
            Next::Chunk(c) => c,
            Next::Skipped { .. } => {
                trace.damage += 1;
                continue;
            }
            Next::End => return trace,
        };
        let ChunkHeader { kind, context, seq, .. } = chunk.header;
        trace.chunks.push(kind);
        let next = seqs.entry((kind as u8, context)).or_default();
        assert_eq!(seq, *next, "{kind:?} chunks of context {context}");
        *next += 1;
        match kind {
            ChunkKind::Module => {
                let load = ModuleLoad::from_bytes(&chunk.stored).unwrap();
                let mut table = ModuleTable::decode(&load.table).unwrap();
                program.add(load.id_base, load.id_count, &mut table, &[], None).unwrap();
            }
            ChunkKind::Stream => {
                let (mut raw, mut records) = (Vec::new(), Records::default());
                let payload = chunk.payload(&mut raw).unwrap();
                Decoder::default().chunk(payload, &program, &mut records).unwrap();
                let level = trace.levels.entry(chunk.header.level).or_default();
                level.extend(blocks(&records.0));
                let known = trace.contexts.entry(context).or_default();
                for record in records.0 {
                    match record {
                        Seen::Event(position @ Event::Position { .. }) => {
                            trace.positions.push((known.len(), position));
                        }
                        record => known.push(record),
                    }
                }
            }
            ChunkKind::End => trace.totals.push(Totals::from_bytes(&chunk.stored).unwrap()),
            ChunkKind::Run => {
                assert!(!RunInfo::from_bytes(&chunk.stored).unwrap().command.is_empty())
            }
            ChunkKind::Check => trace.checks += chunk.header.raw_len as usize,
            ChunkKind::Rank => {}
        }
    }
}

/// The records of a chunk.
#[derive(Default)]
struct Records(Vec<Seen>);

impl Sink for Records {
    fn block(&mut self, block: u32, _: &[u64]) {
        self.0.push(Seen::Block(block));
    }
    fn event(&mut self, event: Event) {
        self.0.push(Seen::Event(event));
    }
}

fn blocks(records: &[Seen]) -> Vec<u32> {
    let block = |s: &Seen| match s {
        Seen::Block(k) => Some(*k),
        Seen::Event(_) => None,
    };
    records.iter().filter_map(block).collect()
}

/// A trace with its recorder, and a thread.
fn begin(
    host: &'static dyn Host,
    more: &[(&str, &str)],
) -> (Run, &'static Recorder, &'static TlsBlock) {
    let run = run(host, more);
    let recorder = run.recorder;
    (run, recorder, tls())
}

/// Finishes the trace and reads it.
fn end(run: &Run, tls: &TlsBlock) -> Trace {
    finish(run.recorder, tls);
    read(run)
}

/// What these events of the first context say.
fn events<T>(trace: &Trace, of: impl Fn(&Event) -> Option<T>) -> Vec<T> {
    let event = |s: &Seen| match s {
        Seen::Event(event) => of(event),
        Seen::Block(_) => None,
    };
    trace.contexts[&1].iter().filter_map(event).collect()
}

/// How often records of the first context were lost.
fn losses(trace: &Trace) -> usize {
    events(trace, |event| matches!(event, Event::Lost { .. }).then_some(())).len()
}

fn threads() -> &'static Writer {
    Box::leak(Box::new(Writer::Thread(Mutex::default())))
}

/// The entry of a handler that interrupted code of which nothing is known.
fn entry(mark: usize) -> Entry {
    Entry { mark, stack: None, registers: [0; 16], in_call: false }
}

/// A block that outlives the test, as a thread's does until its end.
fn tls() -> &'static TlsBlock {
    Box::leak(Box::default())
}

#[test]
fn everything_a_thread_records_is_read_back_in_order_over_many_buffers() {
    for host in [threads(), &Writer::NoThread] {
        let run = run(host, &[("CONTECH_BUFFER", "32K")]);
        let tls = tls();
        let mut expected = Vec::new();
        for i in 0..50_000u32 {
            block(run.recorder, tls, i % 7);
            expected.push(i % 7);
        }
        run.recorder.register(tls, vec![module(BASE + 8, "library")]);
        let trace = end(&run, tls);
        let of = |kind| trace.chunks.iter().filter(|one| **one == kind).count();
        assert_eq!([ChunkKind::Run, ChunkKind::Module, ChunkKind::End].map(of), [1, 2, 1]);
        // The test's own thread is not the first of the process, so its context was not announced.
        let records = &trace.contexts[&1];
        assert!(matches!(
            records[0],
            Seen::Event(Event::ContextStart { context: 1, announced: false, .. })
        ));
        assert!(matches!(
            records.last(),
            Some(Seen::Event(Event::ContextEnd { reason: EndReason::ProcessExit, .. }))
        ));
        assert_eq!(blocks(records), expected);
        let totals = &trace.totals[0];
        assert!(totals.complete && totals.clock_hz > 0);
        assert_eq!((totals.contexts, totals.unannounced), (1, 1));
        assert!(totals.bytes > 200_000);
        assert_eq!(trace.damage, 0);
    }
}

#[test]
fn events_written_on_the_hot_path_are_those_of_the_format() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    let sync = Sync {
        op: SyncOp::CondWake,
        object: 0x7fff_1234_5678,
        ticket: 3,
        aux: 4,
        before: 5,
        duration: 6,
    };
    recorder.sync(tls, sync);
    recorder.alloc(tls, AllocKind::Aligned, 0x1000, 24);
    recorder.free(tls, 0x1000);
    recorder.put(tls, &Event::Map { addr: 1, size: 2 });
    let trace = end(&run, tls);
    let expected = [
        Event::Sync {
            op: SyncOp::CondWake,
            object: 0x7fff_1234_5678,
            ticket: 3,
            aux: 4,
            before: 5,
            duration: 6,
        },
        Event::Alloc { kind: AllocKind::Aligned, addr: 0x1000, size: 24 },
        Event::Free { addr: 0x1000 },
        Event::Map { addr: 1, size: 2 },
    ];
    assert_eq!(trace.contexts[&1][1..5], expected.map(Seen::Event));
    assert_eq!(trace.totals[0].syncs, 1);
}

#[test]
fn announced_threads_get_their_contexts_in_order_of_creation() {
    let run = run(threads(), &[("CONTECH_BUFFER", "32K")]);
    let recorder = run.recorder;
    let parent = tls();
    block(recorder, parent, 0);
    let children: Vec<_> =
        (0..8).map(|_| recorder.new_child(parent, true, 0, 0).unwrap()).collect();
    std::thread::scope(|s| {
        for child in &children {
            s.spawn(|| {
                let tls = TlsBlock::default();
                recorder.adopt(&tls, child);
                for i in 0..20_000 {
                    block(recorder, &tls, i % 5);
                }
                assert!(!recorder.end_thread(&tls));
                assert_eq!(tls.role(), ENDED);
                block(recorder, &tls, 7); // code after the end goes nowhere
            });
        }
    });
    let trace = end(&run, parent);
    assert_eq!(trace.contexts.len(), 9);
    for (i, context) in (2..10).enumerate() {
        let records = &trace.contexts[&context];
        assert!(
            matches!(
                records[0],
                Seen::Event(Event::ContextStart { creator: 1, announced: true, .. })
            ),
            "context {context} of child {i}"
        );
        assert_eq!(blocks(records).len(), 20_000);
        assert!(!blocks(records).contains(&7));
        assert!(matches!(
            records.last(),
            Some(Seen::Event(Event::ContextEnd { reason: EndReason::Finished, .. }))
        ));
    }
}

#[test]
fn a_thread_that_could_not_be_created_leaves_no_gap() {
    let run = run(&Writer::NoThread, &[]);
    let parent = tls();
    block(run.recorder, parent, 0);
    let failed = run.recorder.new_child(parent, true, 0, 0).unwrap();
    assert_eq!(failed.context(), 2);
    run.recorder.drop_child(failed);
    assert_eq!(run.recorder.new_child(parent, true, 0, 0).unwrap().context(), 2);
    assert_eq!(run.recorder.live.load(Relaxed), 3);
}

#[test]
fn live_threads_are_written_up_to_their_cursor_at_the_finish_and_discard_afterwards() {
    let run = run(threads(), &[]);
    let (a, b) = (tls(), tls());
    for _ in 0..5 {
        block(run.recorder, a, 1);
        block(run.recorder, b, 2);
    }
    let held = b.cursor();
    finish(run.recorder, a);
    write_block(b, held, 3); // a thread that goes on without noticing
    for _ in 0..100_000 {
        block(run.recorder, b, 4);
    }
    assert!(!run.recorder.is_recording());
    let trace = read(&run);
    assert_eq!(blocks(&trace.contexts[&1]), [1; 5]);
    assert_eq!(blocks(&trace.contexts[&2]), [2; 5]);
    assert!(trace.totals[0].complete);
}

#[test]
fn a_handlers_records_come_after_the_interrupted_code_and_overwrite_nothing() {
    let (run, recorder, tls) = begin(threads(), &[]);
    block(recorder, tls, 0);
    // The interrupted code has written one record, whose cursor is still in a register.
    let register = tls.cursor();
    write_block(tls, register, 1);
    tls.set_cursor(register);
    let outer = recorder.enter_handler(tls, &entry(0x1000));
    block(recorder, tls, 5);
    let nested = recorder.enter_handler(tls, &entry(0x900));
    block(recorder, tls, 6);
    recorder.leave_handler(tls, &nested, true);
    block(recorder, tls, 7);
    recorder.leave_handler(tls, &outer, true);
    assert_eq!(tls.cursor(), register);
    tls.set_cursor(register.wrapping_add(4));
    block(recorder, tls, 2);
    let trace = end(&run, tls);
    assert_eq!(blocks(&trace.contexts[&1]), [0, 1, 5, 6, 7, 2]);
    let levels: Vec<_> = trace.levels.into_values().collect();
    assert_eq!(levels, [vec![0, 1, 2], vec![5, 7], vec![6]]);
    assert!(trace.totals[0].complete);
}

/// An event without a ticket.
fn sync(op: SyncOp) -> Sync {
    Sync { op, object: 0x1000, ticket: 0, aux: 0, before: 0, duration: 0 }
}

#[test]
fn what_others_may_follow_stands_before_the_records_of_a_handler_that_ran_meanwhile() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    let handler = |mark, done: &dyn Fn()| {
        let entered = recorder.enter_handler(tls, &entry(mark));
        done();
        recorder.leave_handler(tls, &entered, true);
    };
    // The second handler interrupts the first one between its release and the return from it.
    handler(0x1000, &|| {
        recorder.announce(
            tls,
            sync(SyncOp::MutexUnlock),
            || 1,
            || {
                handler(0x900, &|| {
                    recorder.sync_in_order(tls, sync(SyncOp::MutexLock), || 2);
                });
            },
            |()| Some(0),
        );
        recorder.announce(
            tls,
            sync(SyncOp::FutexWake),
            || 3,
            || handler(0x900, &|| {}),
            |()| Some(9),
        );
        recorder.announce(tls, sync(SyncOp::MutexUnlock), || 4, || (), |()| None);
    });
    let trace = end(&run, tls);
    let seen = events(&trace, |event| match *event {
        Event::Sync { op, ticket, aux, .. } => Some((op, ticket, aux)),
        _ => None,
    });
    let expected = [
        (SyncOp::MutexUnlock, 1, 0),
        (SyncOp::MutexLock, 2, 0),
        (SyncOp::FutexWake, 3, 9),
        (SyncOp::AtomicSpun, 4, 0),
    ];
    assert_eq!(seen, expected);
    assert!(trace.totals[0].complete);
}

#[test]
fn a_ticket_comes_after_those_of_handlers_whose_records_stand_before_its_event() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    let next = AtomicU64::new(1);
    let draw = || next.fetch_add(1, Relaxed);
    let post = |mark, before: &dyn Fn(), after: &dyn Fn()| {
        let entered = recorder.enter_handler(tls, &entry(mark));
        let draw = || {
            before();
            let ticket = draw();
            after();
            ticket
        };
        recorder.sync_in_order(tls, sync(SyncOp::SemPost), draw);
        recorder.leave_handler(tls, &entered, true);
    };
    let once = |mark| {
        let done = Cell::new(false);
        move || {
            if !done.replace(true) {
                post(mark, &|| {}, &|| {});
            }
        }
    };
    // One handler interrupts another just before, or just after, the other has drawn its ticket.
    post(0x1000, &once(0x900), &|| {});
    post(0x1000, &|| {}, &once(0x900));
    let trace = end(&run, tls);
    let tickets = events(&trace, |event| match event {
        Event::Sync { ticket, .. } => Some(*ticket),
        _ => None,
    });
    assert_eq!(tickets.len(), 4);
    assert!(tickets.is_sorted(), "{tickets:?}");
    assert!(trace.totals[0].complete);
}

#[test]
fn a_handler_may_fill_many_buffers_and_the_finish_may_come_in_it() {
    let (run, recorder, tls) = begin(threads(), &[("CONTECH_BUFFER", "32K")]);
    block(recorder, tls, 0);
    let entered = recorder.enter_handler(tls, &entry(0x1000));
    assert!(matches!(entered, Entered::Level(1)));
    for _ in 0..30_000 {
        block(recorder, tls, 5);
    }
    finish(recorder, tls);
    recorder.leave_handler(tls, &entered, true);
    let trace = read(&run);
    let seen = blocks(&trace.contexts[&1]);
    assert_eq!((seen[0], seen.len()), (0, 30_001));
}

#[test]
fn a_jump_out_of_handlers_goes_on_where_the_program_was_and_says_what_is_lost() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    block(recorder, tls, 0);
    recorder.enter_handler(tls, &entry(0x1000));
    block(recorder, tls, 5);
    let stack = Some((0x800_0000, 0x800_1000));
    let on_stack = Entry { stack, ..entry(0x800_0100) };
    recorder.enter_handler(tls, &on_stack);
    block(recorder, tls, 6);
    recorder.jump(tls, 0x800_0050); // within the alternate stack, above nothing
    block(recorder, tls, 6);
    recorder.jump(tls, 0x2000);
    block(recorder, tls, 1);
    recorder.jump(tls, 0x3000); // not in a handler
    let trace = end(&run, tls);
    assert_eq!(blocks(&trace.contexts[&1]), [0, 5, 6, 6, 1]);
    assert_eq!(losses(&trace), 1);
    assert!(!trace.totals[0].complete);
}

#[test]
fn handlers_too_deep_lose_their_records_but_none_of_the_others() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    let mut entered = Vec::new();
    for k in 0..12 {
        block(recorder, tls, k % 8);
        entered.push(recorder.enter_handler(tls, &entry(0x9000 - k as usize)));
    }
    while let Some(e) = entered.pop() {
        recorder.leave_handler(tls, &e, true);
    }
    let trace = end(&run, tls);
    assert_eq!(blocks(&trace.contexts[&1]).len(), 9);
    assert!(!trace.totals[0].complete);
}

#[test]
fn the_program_pauses_at_the_memory_limit_and_a_delay_says_so() {
    let (run, recorder, tls) =
        begin(threads(), &[("CONTECH_BUFFER", "32K"), ("CONTECH_MEMORY", "32K")]);
    for i in 0..200_000 {
        block(recorder, tls, i % 3);
    }
    let trace = end(&run, tls);
    let delays = events(&trace, |event| matches!(event, Event::Delay { .. }).then_some(()));
    assert_eq!(delays.len() as u64, trace.totals[0].pauses);
    assert_eq!(blocks(&trace.contexts[&1]).len(), 200_000);
}

#[test]
fn contexts_that_have_no_number_left_stop_the_recording() {
    let run = run(&Writer::NoThread, &[]);
    run.recorder.next_context.store(TEAM_STREAMS - 3, Relaxed);
    assert_eq!(run.recorder.reserve_contexts(2), TEAM_STREAMS - 3);
    assert!(run.recorder.is_recording());
    run.recorder.reserve_contexts(2);
    assert!(!run.recorder.is_recording());
    finish(run.recorder, tls());
    let totals = &read(&run).totals[0];
    assert!(totals.notes[0].contains("2^31"), "{:?}", totals.notes);
    assert!(!totals.complete);
}

#[test]
fn the_end_of_memory_is_recorded_before_it_and_says_nothing_if_it_does_not_come() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    block(recorder, tls, 0);
    let free = Event::Free { addr: 0x1000 };
    let unmap = Event::Unmap { addr: 0x2000, size: 0x3000 };
    for event in [free, unmap] {
        for ends in [true, false] {
            let before = tls.cursor();
            let call = || assert!(tls.cursor() > before, "the event is there already");
            recorder.announce_end(tls, &event, call, |()| ends);
        }
    }
    finish(recorder, tls);
    let is_end = |event: &Event| matches!(event, Event::Free { .. } | Event::Unmap { .. });
    let ends = events(&read(&run), |event| is_end(event).then_some(*event));
    let (addr, size) = (0, 0);
    let nothing = [Event::Free { addr }, Event::Unmap { addr, size }];
    assert_eq!(ends, [free, nothing[0], unmap, nothing[1]]);
}

#[test]
fn a_checkpoint_ends_the_file_and_recording_goes_on() {
    let (run, recorder, tls) = begin(threads(), &[]);
    block(recorder, tls, 1);
    recorder.checkpoint(tls, &Finish::by(EndReason::Exec));
    assert_eq!(read(&run).chunks.last(), Some(&ChunkKind::End));
    block(recorder, tls, 2);
    let trace = end(&run, tls);
    assert_eq!(blocks(&trace.contexts[&1]), [1, 2]);
    assert_eq!(trace.totals.len(), 2);
}

#[test]
fn the_last_thread_goes_on_recording_without_another() {
    let host = threads();
    let run = run(host, &[("CONTECH_BUFFER", "32K")]);
    let recorder = run.recorder;
    let (first, second) = (tls(), tls());
    // The process's first thread counts from the start; it stands for `first` here.
    recorder.live.store(0, Relaxed);
    block(recorder, first, 1);
    for _ in 0..20_000 {
        block(recorder, second, 2);
    }
    assert_eq!(recorder.live.load(Relaxed), 2);
    assert!(!recorder.end_thread(first));
    assert!(recorder.end_thread(second), "the writer thread is gone now");
    for _ in 0..20_000 {
        block(recorder, second, 3);
    }
    let Writer::Thread(running) = host else { unreachable!("it is a thread") };
    assert!(running.lock().unwrap().is_none(), "a thread that nobody ends keeps the process alive");
    let trace = end(&run, second);
    assert_eq!(blocks(&trace.contexts[&1]), [1]);
    assert_eq!(blocks(&trace.contexts[&2]).last(), Some(&3));
    assert!(registry::current(first).is_none());
}

#[test]
fn neither_signal_handlers_nor_threads_that_end_make_the_writers_thread() {
    let (run, recorder, tls) = begin(&Writer::Never, &[("CONTECH_BUFFER", "32K")]);
    block(recorder, tls, 0);
    let entered = recorder.enter_handler(tls, &entry(0x1000));
    for _ in 0..20_000 {
        block(recorder, tls, 1);
    }
    recorder.leave_handler(tls, &entered, true);
    recorder.live.store(2, Relaxed);
    assert!(!recorder.end_thread(tls));
    let trace = read(&run);
    assert_eq!(blocks(&trace.contexts[&1]).len(), 20_001);
}

#[test]
fn a_jump_keeps_what_registers_point_at_but_only_a_system_call_proves_that_nothing_is_lost() {
    for (in_call, expected) in [(false, vec![0, 1, 2, 5, 3]), (true, vec![0, 5, 3])] {
        let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
        block(recorder, tls, 0);
        let synced = tls.cursor();
        block(recorder, tls, 1);
        block(recorder, tls, 2);
        // Only one register points behind the last two records. Others point into the middle of a
        // record, or elsewhere.
        let ahead = tls.cursor().addr();
        tls.set_cursor(synced);
        let mut registers = [0; 16];
        registers[3..7].copy_from_slice(&[synced.addr(), ahead + 2, ahead, 1]);
        let interrupted = Entry { registers, in_call, ..entry(0x1000) };
        recorder.enter_handler(tls, &interrupted);
        block(recorder, tls, 5);
        recorder.jump(tls, 0x2000);
        block(recorder, tls, 3);
        let trace = end(&run, tls);
        assert_eq!(blocks(&trace.contexts[&1]), expected);
        assert_eq!(trace.totals[0].complete, in_call);
    }
}

#[test]
fn a_jump_keeps_the_whole_records_before_a_segment_under_way() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    block(recorder, tls, 0);
    let synced = tls.cursor();
    block(recorder, tls, 1);
    block(recorder, tls, 2);
    // Two leaves of a segment whose id is still to come.
    let whole = tls.cursor();
    // SAFETY: the check of `block` leaves room.
    unsafe { whole.cast::<[u8; 12]>().write([0x11; 12]) };
    tls.set_cursor(synced);
    let mut registers = [0; 16];
    registers[7] = whole.addr() + 12;
    registers[8] = tls.limit().addr();
    let interrupted = Entry { registers, ..entry(0x1000) };
    recorder.enter_handler(tls, &interrupted);
    block(recorder, tls, 5);
    recorder.jump(tls, 0x2000);
    block(recorder, tls, 3);
    let trace = end(&run, tls);
    let lost = |s: &Seen| matches!(s, Seen::Event(Event::Lost { .. }));
    let at = trace.contexts[&1].iter().position(lost).unwrap();
    assert_eq!(blocks(&trace.contexts[&1][..at]), [0, 1, 2, 5]);
    assert_eq!(blocks(&trace.contexts[&1][at..]), [3]);
    assert!(!trace.totals[0].complete);
}

#[test]
fn a_thread_cancelled_anywhere_says_that_records_are_lost_and_one_that_leaves_does_not() {
    for leaves in [false, true] {
        let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
        block(recorder, tls, 1);
        recorder.set_unsafe_end(tls, true);
        if leaves {
            recorder.set_unsafe_end(tls, false);
        }
        recorder.check_cancelled(tls);
        recorder.check_cancelled(tls);
        let trace = end(&run, tls);
        assert_eq!(losses(&trace), usize::from(!leaves));
        assert_eq!(trace.totals[0].complete, leaves);
    }
}

#[test]
fn a_thread_that_is_asked_notes_its_position_at_the_next_check_and_goes_on_in_its_buffer() {
    let (run, recorder, tls) = begin(&Writer::NoThread, &[]);
    let mut asker = crate::positions::Asker::default();
    block(recorder, tls, 0);
    let (buffer, limit) = tls.at(Lane::Stream);
    assert!(recorder.ask_positions(&mut asker).is_some());
    assert_eq!(tls.limit(), limit, "it is not time");
    std::thread::sleep(std::time::Duration::from_millis(2));
    recorder.ask_positions(&mut asker);
    assert!(tls.limit() < buffer, "any cursor has passed it");
    block(recorder, tls, 1);
    assert_eq!(tls.limit(), limit);
    block(recorder, tls, 2);
    // An operation after a long time answers, too.
    std::thread::sleep(std::time::Duration::from_millis(2));
    recorder.ask_positions(&mut asker);
    recorder.before(tls);
    assert_eq!(tls.limit(), limit);
    // Who demands another buffer is not asked.
    tls.set_at(Lane::Stream, (tls.cursor(), std::ptr::null_mut()));
    std::thread::sleep(std::time::Duration::from_millis(2));
    recorder.ask_positions(&mut asker);
    assert!(tls.limit().is_null());
    block(recorder, tls, 3);
    let trace = end(&run, tls);
    let blocks = trace.contexts[&1].iter().filter(|seen| matches!(seen, Seen::Block(_)));
    let blocks: Vec<&Seen> = blocks.collect();
    assert_eq!(blocks, [0, 1, 2, 3].map(Seen::Block).iter().collect::<Vec<_>>());
    // After the context's start, the first block, the third, and at the end.
    let before: Vec<usize> = trace.positions.iter().map(|one| one.0).collect();
    assert_eq!(before, [1, 2, 4, 5], "{:?}", trace.positions);
}

#[test]
fn the_check_stream_is_a_stream_of_its_own() {
    let (run, recorder, tls) = begin(threads(), &[("CONTECH_BUFFER", "32K")]);
    for i in 0..20_000 {
        block(recorder, tls, i % 3);
        let (mut at, limit) = tls.at(Lane::Check);
        if at >= limit {
            at = recorder.flush_lane(tls, at, Lane::Check);
        }
        // SAFETY: the check leaves room.
        unsafe { at.cast::<u32>().write_unaligned(BASE + i % 3) };
        tls.set_at(Lane::Check, (at.wrapping_add(4), tls.at(Lane::Check).1));
    }
    let trace = end(&run, tls);
    assert_eq!(blocks(&trace.contexts[&1]).len(), 20_000);
    assert_eq!(trace.checks, 20_000 * 4);
    assert!(trace.totals[0].complete);
}
