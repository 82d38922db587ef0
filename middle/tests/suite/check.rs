//! The comparison of `--contech-check`: equal recordings, and planted differences.

use contech_middle::Summary;
use contech_trace::event::{EndReason, Event};
use contech_trace::file::{CODEC_PACKED, CODEC_RAW, ChunkKind};
use contech_trace::table::{BLOCK_CHECKED, ModuleTable};

use crate::graph::{convert_with, options};
use crate::trace::{
    BASE, COPY, GATHER, LOAD, LOOP, PLAIN, STORE_LOAD, TraceBuilder, assemble, module_with_loop,
};

fn checked() -> ModuleTable {
    let mut module = module_with_loop();
    for block in &mut module.blocks {
        block.flags |= BLOCK_CHECKED;
    }
    module
}

/// Context 0 started, the module recorded in both forms.
fn started() -> TraceBuilder {
    let mut t = TraceBuilder::empty();
    t.module(BASE, &checked());
    t.start(0);
    t
}

fn summary(trace: Vec<u8>) -> Summary {
    convert_with(trace, &options(64 << 20, 2)).unwrap().summary
}

/// Executes the loop `back + 1` times; the recording is the count alone.
fn run_loop(t: &mut TraceBuilder, context: u32, back: u64) {
    t.record(context, LOOP, &[back], 6);
    for i in 0..=back {
        t.naive(context, LOAD, &[0x1000 + 8 * i]);
    }
}

/// Two contexts whose chunks are cut at different places in the two forms.
fn two_contexts() -> TraceBuilder {
    let mut t = started();
    t.create(0, 1);
    for round in 0..50u64 {
        for context in [0, 1] {
            t.both(context, STORE_LOAD, &[0x5000 + round, 0x9000]);
            run_loop(&mut t, context, round % 7);
            t.both(context, COPY, &[0x10, 0x20, round]);
            t.both(context, GATHER, &[u64::MAX, 1, 2, 3]);
        }
        if round % 5 == 0 {
            t.flush(1);
        }
        if round % 20 == 3 {
            t.flush_naive(1);
            t.flush_naive(0);
        }
    }
    t.join(0, 1);
    t
}

#[test]
fn equal_recordings_have_no_mismatch_however_their_chunks_are_cut() {
    for codec in [CODEC_RAW, CODEC_PACKED] {
        let mut t = two_contexts();
        t.codec = codec;
        t.end(0);
        let s = summary(t.finish());
        assert!(s.complete, "{:?}", s.notes);
        assert_eq!(s.check.as_ref().map(|c| c.compared), Some(s.blocks));
        let check = s.check.unwrap();
        assert_eq!((check.mismatches, check.differences.len()), (0, 0));
    }
}

#[test]
fn a_naive_form_that_comes_before_or_after_everything_else_is_compared_too() {
    let mut t = two_contexts();
    t.end(0);
    t.close();
    let naive = |p: &crate::trace::Piece| p.kind == ChunkKind::Check;
    let (check, rest): (Vec<_>, Vec<_>) = t.pieces.iter().cloned().partition(naive);
    let end = rest.len() - 1;
    for order in
        [[&rest[..2], &check, &rest[2..]].concat(), [&rest[..end], &check, &rest[end..]].concat()]
    {
        let s = summary(assemble(&order));
        assert!(s.complete, "{:?}", s.notes);
        assert_eq!(s.check.unwrap().compared, s.blocks);
    }
}

#[test]
fn a_different_first_block_ends_the_comparison_of_its_context_only() {
    let mut t = started();
    t.create(0, 1);
    t.block(1, PLAIN, &[]);
    t.naive(1, LOAD, &[0x77]);
    for _ in 0..3 {
        t.both(1, PLAIN, &[]);
        t.both(0, PLAIN, &[]);
    }
    t.join(0, 1);
    t.end(0);
    let s = summary(t.finish());
    assert!(!s.complete);
    let check = s.check.clone().unwrap();
    assert_eq!((check.compared, check.mismatches), (4, 1));
    assert_eq!(
        check.differences,
        ["context 1, execution 0: recorded block 0 (work(int*), program.cpp:10), \
          naive block 1 (work(int*), program.cpp:11)"]
    );
    let text = s.to_string();
    assert!(
        text.contains("\ncheck      4 blocks compared, 1 mismatches\nmismatch   context 1,"),
        "{text}"
    );
    assert!(text.contains("note       the recording differs from its naive form"), "{text}");
}

#[test]
fn the_end_of_a_thread_that_still_ran_may_be_in_one_form_only() {
    for reason in [EndReason::ProcessExit, EndReason::Exec] {
        let mut t = started();
        t.create(0, 1);
        t.both(1, PLAIN, &[]);
        t.naive(1, LOAD, &[1]);
        [0, 1].into_iter().for_each(|context| t.end_as(context, reason));
        let s = summary(t.finish());
        let c = s.check.unwrap();
        assert_eq!((c.compared, c.mismatches), (1, 0), "{reason:?}");
        let note = "recorded in one form only: context 1, execution 1";
        assert!(s.notes.iter().any(|n| n.contains(note)), "{:?}", s.notes);
    }
}

#[test]
fn a_signal_handler_takes_its_place_at_different_points_of_the_two_forms() {
    let mut t = started();
    t.both(0, LOAD, &[1]);
    // The naive form of the interrupted code is one block further when the handler's is handed
    // over.
    t.flush(0);
    t.naive(0, STORE_LOAD, &[2, 3]);
    t.flush_naive(0);
    t.level = 1;
    t.both(0, LOAD, &[0x99]);
    t.flush_naive(0);
    t.flush(0);
    t.level = 0;
    t.block(0, STORE_LOAD, &[2, 3]);
    t.both(0, COPY, &[4, 5, 6]);
    t.end(0);
    let s = summary(t.finish());
    assert!(s.complete, "{:?}", s.notes);
    let c = s.check.unwrap();
    assert_eq!((c.compared, c.mismatches), (4, 0), "{:?}", c.differences);
}

#[test]
fn modules_recorded_in_one_form_are_not_compared() {
    let mut t = started();
    t.module(BASE + 0x1000, &module_with_loop());
    t.both(0, LOAD, &[1]);
    t.block(0, 0x1000 + LOAD, &[2]);
    t.both(0, LOAD, &[3]);
    t.end(0);
    let s = summary(t.finish());
    assert!(s.complete, "{:?}", s.notes);
    let c = s.check.unwrap();
    assert_eq!((c.compared, c.mismatches, s.blocks), (2, 0, 3));
}

#[test]
fn after_lost_chunks_nothing_is_compared_and_it_is_said() {
    for kind in [ChunkKind::Check, ChunkKind::Stream] {
        let mut t = started();
        for i in 0..3 {
            t.both(0, LOAD, &[i]);
            t.flush(0);
            t.flush_naive(0);
        }
        t.end(0);
        t.close();
        let middle = t.pieces.iter().position(|p| p.kind == kind && p.seq == 1);
        t.pieces.remove(middle.unwrap());
        let s = summary(assemble(&t.pieces));
        let c = s.check.unwrap();
        assert_eq!((c.compared, c.mismatches), (1, 0), "{kind:?}");
        assert!(s.notes.iter().any(|n| n.contains("ended early")), "{:?}", s.notes);
    }
}

#[test]
fn what_differs_is_counted_and_described() {
    type Case = (fn(&mut TraceBuilder), (u64, u64), &'static str);
    let cases: [Case; 7] = [
        // Another operand: the comparison goes on.
        (
            |t| {
                t.both(0, LOAD, &[0x50]);
                t.block(0, STORE_LOAD, &[0x60, 0x70]);
                t.naive(0, STORE_LOAD, &[0x60, 0x78]);
                run_loop(t, 0, 9);
            },
            (12, 1),
            "context 0, execution 1: block 2 (work(int*), program.cpp:12): \
             operand 1 of operation 1 (load of 4 bytes, line 7): recorded 0x70, naive 0x78",
        ),
        // A wrong address in every iteration but one: each is counted, and a few are described.
        (
            |t| {
                t.record(0, LOOP, &[99], 6);
                (0..100).for_each(|i| t.naive(0, LOAD, &[0x1000 + 4 * i]));
            },
            (100, 99),
            "context 0, execution 8: ",
        ),
        (
            |t| {
                t.both(0, PLAIN, &[]);
                t.block(0, LOAD, &[1]);
            },
            (1, 1),
            "the naive form ends, the recording goes on with block 1",
        ),
        (
            |t| {
                t.both(0, PLAIN, &[]);
                t.naive(0, LOAD, &[1]);
            },
            (1, 1),
            "the recording ends, naive goes on with block 1",
        ),
        // What differs before the event that says that records were lost may be what was lost.
        (
            |t| {
                t.both(0, LOAD, &[1]);
                t.naive(0, LOAD, &[2]);
                t.both(0, PLAIN, &[]);
                t.event(0, Event::Lost { bytes: 0 });
            },
            (2, 0),
            "records were lost",
        ),
        (
            |t| {
                t.both(0, LOAD, &[1]);
                t.event(0, Event::Lost { bytes: 3 });
                t.block(0, PLAIN, &[]);
            },
            (1, 0),
            "records were lost",
        ),
        // The naive form may have lost more.
        (
            |t| {
                t.both(0, LOAD, &[1]);
                t.block(0, PLAIN, &[]);
                t.event(0, Event::Lost { bytes: 0 });
            },
            (1, 0),
            "recorded in one form only: context 0, execution 1",
        ),
    ];
    for (recorded, numbers, words) in cases {
        let mut t = started();
        recorded(&mut t);
        t.end(0);
        let s = summary(t.finish());
        assert!(!s.complete, "{words}");
        let c = s.check.unwrap();
        assert_eq!((c.compared, c.mismatches), numbers, "{words}");
        assert_eq!(c.differences.len() as u64, c.mismatches.min(8), "{:?}", c.differences);
        let notes = s.notes.iter().map(|note| note.to_string());
        let said: Vec<String> = c.differences.into_iter().chain(notes).collect();
        assert!(said.iter().any(|text| text.contains(words)), "{words} in {said:?}");
    }
}
