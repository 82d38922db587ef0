//! Threads that begin, go on and end while another one closes the trace.

use loom::sync::Arc;
use loom::sync::atomic::Ordering::Acquire;
use loom::thread::{JoinHandle, yield_now};

use crate::desk::Desk;
use crate::model;
use crate::thread::{Arrived, LEFT_OUT, Thread, desk, numbers, turns, write};

use crate::desk::Party;
use crate::lane::Lane;

crate::tests! {
    a_thread_that_ends_while_the_trace_closes_loses_nothing
    a_thread_that_needs_room_while_the_trace_closes_loses_nothing
    a_thread_that_waits_while_the_trace_closes_has_all_its_turns
    a_thread_that_waits_while_all_hand_over_has_each_turn_once
    a_thread_without_accesses_has_all_its_events_while_the_trace_closes
    a_thread_without_accesses_has_each_event_once_while_all_hand_over
    a_thread_that_begins_while_the_trace_closes_is_there_from_its_beginning_or_not_at_all
}

/// Hands over all there is.
fn end_all(desk: &Desk, thread: &Arc<Thread>, resume: bool) {
    let wait = || {
        yield_now();
        true
    };
    let losses = desk.end_all(vec![&**thread], None, || 0, resume, wait);
    assert_eq!(losses, (0, 0));
}

/// Closes the trace as `Recorder::finish` does; how many records the thread had made by then.
fn close(desk: &Desk, thread: &Arc<Thread>) -> usize {
    let made = thread.made.load(Acquire);
    assert!(desk.begin_closing());
    end_all(desk, thread, false);
    assert!(desk.close());
    made
}

/// What the thread does meanwhile.
fn beside(
    desk: &Arc<Desk>,
    thread: &Arc<Thread>,
    act: impl FnOnce(&Desk, &Thread) + 'static,
) -> JoinHandle<()> {
    let desk = Arc::clone(desk);
    crate::beside(thread, move |thread| act(&desk, thread))
}

/// The same while `other` goes on. How many records the thread had made before, how many it made,
/// and what arrived.
fn hand_over(
    desk: &Desk,
    thread: &Arc<Thread>,
    resume: bool,
    other: JoinHandle<()>,
) -> (usize, usize, Vec<u8>) {
    let made = thread.made.load(Acquire);
    end_all(desk, thread, resume);
    other.join().unwrap();
    let mut arrived = Arrived::default();
    write(desk, &mut arrived);
    (made, thread.made.load(Acquire), arrived.records)
}

/// All that was made before the trace closed is there, perhaps some of what was made after; then
/// the end, once.
fn check(desk: &Desk, thread: &Thread, made_before: usize) {
    let mut arrived = Arrived::default();
    write(desk, &mut arrived);
    let records = arrived.records;
    assert!(records.len() >= made_before, "{records:?} of {made_before}");
    assert!(records.len() <= thread.made.load(Acquire));
    assert_eq!(records, numbers(records.len()));
    if !records.is_empty() {
        assert_eq!(arrived.ends, 1);
    }
}

/// A thread does this while another one closes the trace, `begun` with a buffer and a record in it.
fn while_it_closes(begun: bool, act: fn(&Desk, &Thread)) {
    model(None, move || {
        let (desk, thread) = (desk(), Thread::new());
        if begun {
            assert!(thread.flush(&desk));
            thread.record();
        }
        let other = beside(&desk, &thread, act);
        let made = close(&desk, &thread);
        other.join().unwrap();
        check(&desk, &thread, made);
    });
}

fn a_thread_that_ends_while_the_trace_closes_loses_nothing() {
    while_it_closes(true, |desk, thread| {
        thread.record();
        thread.end(desk);
    });
}

fn a_thread_that_needs_room_while_the_trace_closes_loses_nothing() {
    while_it_closes(true, |desk, thread| {
        if thread.flush(desk) {
            thread.record();
        }
        thread.end(desk);
    });
}

fn a_thread_that_begins_while_the_trace_closes_is_there_from_its_beginning_or_not_at_all() {
    while_it_closes(false, |desk, thread| {
        if thread.flush(desk) {
            thread.record();
            thread.publish(desk);
            thread.record();
        }
    });
}

/// A thread takes back what it records between its events, some before and some while another one
/// hands over all there is.
fn take_back(resume: bool) {
    model(Some(3), move || {
        let (desk, thread) = (desk(), Thread::new());
        assert!(thread.flush(&desk));
        thread.record_gated();
        thread.record_gated();
        let other = beside(&desk, &thread, move |desk, thread| {
            thread.record_gated();
            thread.record_gated();
            if resume {
                thread.end(desk);
            }
        });
        let (made, all, mut records) = hand_over(&desk, &thread, resume, other);
        records.retain(|byte| *byte != LEFT_OUT);
        assert_eq!(records, numbers(records.len()));
        if resume {
            assert_eq!(records.len(), all);
        } else {
            assert!((made..=all).contains(&records.len()));
        }
    });
}

fn a_thread_without_accesses_has_all_its_events_while_the_trace_closes() {
    take_back(false);
}

fn a_thread_without_accesses_has_each_event_once_while_all_hand_over() {
    take_back(true);
}

/// A thread takes turns, some before and some while another one hands over all there is.
fn wait(resume: bool) {
    model(Some(3), move || {
        let (desk, thread) = (desk(), Thread::new());
        assert!(thread.flush(&desk));
        let mut mark = thread.cursor(Lane::Stream);
        for _ in 0..3 {
            mark = thread.turn(mark);
        }
        let mark = loom::sync::atomic::AtomicPtr::new(mark);
        let other = beside(&desk, &thread, move |desk, thread| {
            let mut mark = mark.load(Acquire);
            for _ in 0..if resume { 4 } else { 2 } {
                mark = thread.turn(mark);
            }
            if resume {
                thread.end(desk);
            }
        });
        let (made, all, records) = hand_over(&desk, &thread, resume, other);
        let told = turns(&records);
        if resume {
            assert_eq!(told, all);
        } else {
            assert!((made..=all).contains(&told), "{told} of {made} to {all}");
        }
    });
}

fn a_thread_that_waits_while_the_trace_closes_has_all_its_turns() {
    wait(false);
}

fn a_thread_that_waits_while_all_hand_over_has_each_turn_once() {
    wait(true);
}
