//! Cut, damaged, repeated and incomplete traces: always a valid graph, marked, never a panic.

use contech_middle::{Error, convert};
use contech_trace::event::Event;
use contech_trace::event::SyncOp::{
    AtomicLoad, AtomicRmw, AtomicStore, Barrier, MutexLock, MutexUnlock, SemPost, SemWait,
};
use contech_trace::file::{CODEC_PACKED, ChunkKind, HEADER_BYTES, Totals};

use crate::graph::{convert_with, converted, everything, fine, options, tasks};
use crate::trace::{BASE, LOAD, LOOP, PLAIN, TraceBuilder, assemble, module, module_with_loop};

/// A trace with most constructs in many small chunks.
fn rich(codec: u8) -> TraceBuilder {
    let mut t = TraceBuilder::new();
    t.codec = codec;
    for child in 1..=3 {
        t.create(0, child);
    }
    for round in 0..6u64 {
        for context in 0..4u32 {
            t.block(context, LOAD, &[0x1000 + round * 8]);
            t.sync(context, MutexLock, 0x2000);
            t.work(context);
            t.sync(context, MutexUnlock, 0x2000);
            if context % 2 == 0 {
                t.sync(context, SemPost, 0x3000);
            } else {
                t.sync(context, SemWait, 0x3000);
            }
            if round % 2 == 1 {
                t.flush(context);
            }
        }
        for context in [3, 0, 2, 1] {
            t.sync_aux(context, Barrier, 0x4000, 4);
        }
    }
    for child in 1..=3 {
        t.join(0, child);
    }
    t.end(0);
    t.close();
    t
}

#[test]
fn two_writes_of_a_variable_in_the_same_place_of_its_order_are_told() {
    for twice in [false, true] {
        let mut t = TraceBuilder::new();
        t.create(0, 1);
        t.sync_at(0, AtomicRmw, 0x2000, 2, 5);
        t.sync_at(1, AtomicLoad, 0x2000, 3, 5);
        t.sync_at(0, AtomicLoad, 0x2000, 3, 5);
        t.sync_at(1, AtomicRmw, 0x2010, 2, 5);
        if twice {
            t.sync_at(0, AtomicStore, 0x2000, 2, 5);
        }
        t.join(0, 1);
        t.end(0);
        t.close();
        let summary = converted(assemble(&t.pieces)).summary;
        let told = summary.notes.iter().any(|n| n.text.contains("same place"));
        assert_eq!((summary.complete, told), (!twice, twice), "{summary:?}");
    }
}

#[test]
fn a_trace_cut_at_any_byte_gives_a_valid_graph() {
    let bytes = assemble(&rich(0).pieces);
    let whole = converted(bytes.clone()).summary;
    assert!(whole.complete, "{:?}", whole.notes);
    let mut tasks_before = 0;
    for n in (HEADER_BYTES..bytes.len()).step_by(37) {
        let c = converted(bytes[..n].to_vec());
        assert!(!c.summary.complete, "cut at {n}");
        assert!(!c.graph.meta().complete);
        assert!(!c.summary.notes.is_empty());
        assert!(c.summary.tasks.total() >= tasks_before, "cut at {n}");
        tasks_before = c.summary.tasks.total();
    }
    assert_eq!(tasks_before, whole.tasks.total());
}

#[test]
fn a_loop_that_leaves_the_addresses_is_refused() {
    // The loop moves by 8 bytes. Its last access would be at byte 2^49 and a bit.
    for (back, fits) in [(1 << 40, true), (1 << 46, false)] {
        let mut t = TraceBuilder::empty();
        t.module(BASE, &module_with_loop());
        t.start(0);
        t.block(0, PLAIN, &[]);
        t.record(0, LOOP, &[back], 6);
        t.end(0);
        let c = converted(t.finish());
        assert_eq!(c.summary.complete, fits, "{:?}", c.summary.notes);
        let verified = c.graph.verify().unwrap();
        assert_eq!(verified.blocks, if fits { back + 2 } else { 1 });
        let said = format!("{:?}", c.summary.notes);
        assert_eq!(said.contains("leave the addresses"), !fits, "{said}");
    }
}

#[test]
fn any_chunk_may_be_missing() {
    let t = rich(CODEC_PACKED);
    for missing in 0..t.pieces.len() {
        let mut pieces = t.pieces.clone();
        let gone = pieces.remove(missing);
        let c = converted(assemble(&pieces));
        let harmless = gone.kind == ChunkKind::Run;
        assert_eq!(c.summary.complete, harmless, "chunk {missing}: {:?}", c.summary.notes);
    }
}

#[test]
fn what_an_end_claims_must_be_there() {
    type Claim = (fn(&mut Totals), &'static str);
    let claims: [Claim; 4] = [
        (|t| t.bytes += 1, "bytes of records"),
        (|t| t.bytes -= 1, "bytes of records"),
        (|t| t.contexts = 5, "5 contexts, of which 4 are there"),
        (|t| t.syncs = 1000, "1000 sync events"),
    ];
    for (claim, text) in claims {
        let mut pieces = rich(0).pieces;
        let end = pieces.last_mut().unwrap();
        let mut totals = Totals::from_bytes(&end.payload).unwrap();
        claim(&mut totals);
        end.payload = totals.to_bytes();
        let said = converted(assemble(&pieces)).summary;
        assert!(!said.complete, "{text}");
        assert!(said.notes[0].text.contains(text), "{:?}", said.notes);
    }
}

#[test]
fn a_cut_trace_says_what_is_missing_and_whether_its_file_kept_up() {
    for (waited, behind) in [(50_000_000, false), (400_000_000, true)] {
        let mut pieces = rich(0).pieces;
        pieces.pop();
        let last = pieces.last_mut().unwrap();
        (last.last, last.waited) = (2_500_000_000, waited);
        let said = converted(assemble(&pieces)).summary;
        let says = |text: &str| said.notes.iter().any(|n| n.text.contains(text));
        assert!(says("missing is what was recorded after 2.500 s"), "{:?}", said.notes);
        assert_eq!(says("had waited 0.4 s"), behind, "{:?}", said.notes);
    }
}

#[test]
fn chunks_of_a_context_may_arrive_late() {
    let t = rich(0);
    let expected = everything(&converted(assemble(&t.pieces)).graph);
    let (metadata, mut streams): (Vec<_>, Vec<_>) =
        t.pieces.into_iter().partition(|p| p.kind != ChunkKind::Stream);
    let (end, start) = metadata.split_last().unwrap();
    for key in [0u32, 1, 2, 3] {
        // All of one context first, or last; the order within each stays.
        streams.sort_by_key(|p| (p.context ^ key, p.seq));
        let pieces = [start, &streams, std::slice::from_ref(end)].concat();
        let c = converted(assemble(&pieces));
        assert!(c.summary.complete);
        assert_eq!(everything(&c.graph), expected, "order {key}");
    }
}

#[test]
fn repeated_chunks_change_nothing_but_are_noted() {
    let t = rich(0);
    let expected = converted(assemble(&t.pieces));
    let mut pieces = Vec::new();
    for p in &t.pieces {
        pieces.push(p.clone());
        if p.kind == ChunkKind::Stream {
            pieces.push(p.clone());
        }
    }
    let c = converted(assemble(&pieces));
    assert!(c.summary.complete);
    assert!(c.summary.notes.iter().any(|n| n.contains("repeated")));
    assert_eq!(everything(&c.graph), everything(&expected.graph));
}

#[test]
fn a_module_with_reserved_ids_is_reported_not_used() {
    let mut t = TraceBuilder::new();
    let mut other = module();
    other.name = "other.c".into();
    t.module(1, &other);
    t.work(0);
    t.end(0);
    let c = converted(t.finish());
    assert!(!c.summary.complete);
    assert!(c.summary.notes.iter().any(|n| n.contains("reserved")), "{:?}", c.summary.notes);
    assert_eq!(c.summary.blocks, 1);
}

#[test]
fn blocks_of_no_module_are_lost_up_to_the_last_of_them() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.block(0, 0x1234, &[]);
    t.work(0);
    t.work(0);
    t.end(0);
    let c = converted(t.finish());
    assert!(!c.summary.complete);
    assert!(c.summary.lost_bytes > 0);
    assert_eq!(c.summary.blocks, 2);
}

#[test]
fn a_context_without_its_first_chunk_still_appears() {
    let mut t = rich(0);
    t.pieces.retain(|p| !(p.kind == ChunkKind::Stream && p.context == 2 && p.seq == 0));
    let c = converted(assemble(&t.pieces));
    let context = c.graph.contexts().find(|c| c.id.get() == 2).unwrap();
    assert!(context.task_count > 1);
    assert_eq!(context.flags & taskgraph::Context::CUT, taskgraph::Context::CUT);
}

#[test]
fn the_clock_of_a_killed_run_is_estimated_from_the_file() {
    let mut t = TraceBuilder::new();
    t.work(0);
    t.clock = 600_000_000;
    t.flush(0);
    let mut trace = assemble(&t.pieces);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.bin");
    let start = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let header = contech_trace::file::FileHeader {
        start_unix_ns: 1_000_000_000_000_000_000,
        ..Default::default()
    };
    trace[..HEADER_BYTES].copy_from_slice(&header.encode());
    for (ms, hz) in [(300, 2_000_000_000), (3_000_000, 0)] {
        std::fs::write(&path, &trace).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(start + std::time::Duration::from_millis(ms)).unwrap();
        let graph = folder.path().join("g.tg");
        convert(path.as_path(), &graph, &options(1 << 20, 1)).unwrap();
        assert_eq!(taskgraph::map(&graph).unwrap().meta().clock_hz, hz);
    }
}

#[test]
fn a_clock_that_goes_backwards_is_corrected_and_noted() {
    let mut t = TraceBuilder::new();
    t.clock = 1000;
    t.sync(0, MutexLock, 1);
    t.clock = 500;
    t.sync(0, MutexUnlock, 1);
    t.end(0);
    let c = converted(t.finish());
    assert!(c.summary.notes.iter().any(|n| n.contains("backwards")));
    let mut end = 0;
    for task in c.graph.tasks_of(taskgraph::ContextId::new(0)) {
        let task = task.unwrap();
        assert!(task.start_ns() >= end);
        end = task.end_ns();
    }
}

#[test]
fn an_order_that_contradicts_itself_is_an_error_with_its_place() {
    // Each context acquires what the other releases later: tickets no runtime hands out.
    let mut t = TraceBuilder::new();
    t.create(0, 1);
    let mut sync = |context, op, object, ticket| {
        let before = t.tick();
        let event = Event::Sync { op, object, ticket, aux: 0, before, duration: 1 };
        t.event(context, event);
    };
    sync(0, MutexLock, 0x10, 2);
    sync(0, MutexUnlock, 0x20, 1);
    sync(1, MutexLock, 0x20, 2);
    sync(1, MutexUnlock, 0x10, 1);
    t.end(0);
    t.end(1);
    t.close();
    let error = convert_with(assemble(&t.pieces), &options(1 << 20, 1)).err().unwrap();
    assert!(matches!(error, Error::Cycle { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("context 0") && text.contains("byte"), "{text}");
    // Without its end the same trace is damaged, and the contradiction one more damage.
    t.pieces.pop();
    let c = converted(assemble(&t.pieces));
    assert!(!c.summary.complete);
    assert!(c.summary.notes.iter().any(|n| n.contains("contradict")), "{:?}", c.summary.notes);
}

#[test]
fn an_empty_recording_has_the_first_task() {
    let c = converted(TraceBuilder::empty().finish());
    assert_eq!(tasks(&c.graph), "0:0 work 0\n");
    assert!(c.summary.complete);
    let note = "nothing was recorded of the first context";
    assert_eq!(c.summary.notes, [note]);
}

#[test]
fn a_packed_chunk_that_lies_about_its_size_is_damage() {
    for change in [-1i32, 1, 1 << 27] {
        let mut t = TraceBuilder::new();
        t.codec = CODEC_PACKED;
        t.work(0);
        t.end(0);
        t.close();
        let mut bytes = Vec::new();
        for p in &t.pieces {
            let mut b = p.bytes();
            if p.kind == ChunkKind::Stream {
                let mut h = contech_trace::file::ChunkHeader::decode(&b, 0).unwrap();
                h.raw_len = h.raw_len.checked_add_signed(change).unwrap();
                b[..64].copy_from_slice(&h.encode());
            }
            bytes.extend(b);
        }
        let c = converted([assemble(&[]), bytes].concat());
        assert!(!c.summary.complete);
        assert_eq!(c.summary.blocks, 0);
    }
}

#[test]
fn a_flipped_bit_is_damage_to_its_chunk_only() {
    let pieces = rich(0).pieces;
    let bytes = assemble(&pieces);
    let whole = converted(bytes.clone()).summary;
    for at in (HEADER_BYTES..bytes.len()).step_by(11) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        let c = convert_with(damaged, &options(4 << 20, 1)).unwrap();
        let mut end = HEADER_BYTES;
        let hit = pieces.iter().find(|p| {
            end += p.bytes().len();
            at < end
        });
        let run = hit.is_some_and(|p| p.kind == ChunkKind::Run);
        assert!(run || !c.summary.complete, "byte {at}");
        assert!(c.summary.blocks <= whole.blocks, "byte {at}");
    }
}

#[test]
fn traces_without_blocks_keep_the_time_of_their_work() {
    let mut t = TraceBuilder::empty();
    let mut table = module();
    table.blocks.clear();
    t.module(BASE, &table);
    t.start(0);
    t.clock += 100;
    t.sync(0, MutexLock, 1);
    t.clock += 100;
    t.sync(0, MutexUnlock, 1);
    t.end(0);
    let trace = t.finish();
    let c = converted(trace.clone());
    assert_eq!(tasks(&c.graph), "0:0 work 2\n");
    let c = convert_with(trace, &fine()).unwrap();
    assert_eq!(
        tasks(&c.graph),
        "0:0 work 0\n0:1 sync mutex_lock obj#1\n0:2 work 0\n0:3 sync mutex_unlock obj#1\n0:4 work 0\n"
    );
    assert_eq!(PLAIN, 0);
}
