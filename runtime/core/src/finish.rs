#![allow(
    unsafe_code,
    reason = "reads the cursors and buffers of threads that still run"
)]
//! The end of threads and of the trace: every live buffer is written up to its thread's cursor.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::time::{Duration, Instant};

use contech_trace::event::{EndReason, Event, MAX_EVENT};
use contech_trace::file::Totals;

use crate::level::{self, Registers};
use crate::mask::{Blocked, Uncancellable};
use crate::memory::Errno;
use crate::notice;
use crate::queue::{INLINE, Message, Patience, Records};
use crate::recorder::Recorder;
use crate::registry;
use crate::stats::Stats;
use crate::switch::TEAM_STREAMS;
use crate::sync::{MutexGuard, lock};
use crate::thread::{Inner, Status, Thread};
use crate::tls::{self, Lane, TlsBlock};

/// How long a thread may hold on to its own state (it is in its slow path) before the trace is
/// finished without its last records.
const THREAD_PATIENCE: Duration = Duration::from_secs(10);

/// Why and how the trace is finished.
#[derive(Debug, Clone)]
pub struct Finish {
    /// Why contexts end that still run.
    pub reason: EndReason,
    /// How long to wait for the writer; `None` for ever (the program has all the time it wants).
    pub patience: Option<Patience>,
    /// What the user should know of this end; it does not make the trace incomplete.
    pub note: Option<String>,
    /// Registers of the calling thread's interrupted code, in a signal handler.
    pub registers: Option<Registers>,
}

impl Recorder {
    /// Whether the calling thread may be ended at any instruction: the program lets it be cancelled
    /// asynchronously, and it is not leaving by itself. See [`Recorder::check_cancelled`].
    pub fn set_unsafe_end(&self, tls: &TlsBlock, may: bool) {
        if let Some(thread) = registry::current(tls) {
            thread.unsafe_end.store(may, Relaxed);
        }
    }

    /// The calling thread ends. If that came at any instruction, the cursor was in a register that
    /// unwinding has not kept, and what was recorded since the last call is lost. An event says so.
    pub fn check_cancelled(&'static self, tls: &TlsBlock) {
        let Some(thread) = registry::current(tls) else {
            return;
        };
        let cancelled = thread.unsafe_end.swap(false, Relaxed);
        let live = thread.lock().status == Status::Live;
        if cancelled && live && self.is_recording() {
            self.counters.losses.fetch_add(1, Relaxed);
            self.put(tls, &Event::Lost { bytes: 0 });
        }
    }

    /// The calling thread ends. Returns true when it is the last one of the program, in which case it
    /// goes on recording: exit handlers will run in it.
    pub fn end_thread(&'static self, tls: &TlsBlock) -> bool {
        let Some(thread) = registry::current(tls) else {
            return false;
        };
        if thread.counted.load(Relaxed) && self.live.fetch_sub(1, SeqCst) == 1 {
            let _uncancellable = Uncancellable::new();
            let _blocked = Blocked::new();
            let _quiet = tls.quiet();
            self.stop_writer();
            return true;
        }
        let live = thread.lock().status == Status::Live;
        if live && self.is_recording() {
            let at = self.clock.now();
            let reason = EndReason::Finished;
            if thread.context() < TEAM_STREAMS {
                self.put(tls, &Event::ContextEnd { reason, at });
            }
        }
        let _blocked = Blocked::new();
        let quiet = tls.quiet();
        {
            let mut inner = thread.lock();
            if inner.status == Status::Live && self.is_recording() {
                self.hand_over_all(thread, &mut inner, tls);
            }
            inner.status = Status::Ended;
            if inner.borrowed {
                for tape in inner.levels.iter_mut().flat_map(|level| &mut level.tapes) {
                    // The writer may be reading it.
                    std::mem::forget(tape.buffer.take());
                }
            }
        }
        tls.reset();
        tls.set_role(tls::ENDED);
        self.release(thread);
        // `reset` cleared the count that the guard would take back.
        std::mem::forget(quiet);
        false
    }

    fn hand_over_all(&'static self, thread: &Thread, inner: &mut Inner, tls: &TlsBlock) {
        let now = self.clock.now();
        for (depth, lane) in tapes(inner.depth) {
            let cursor = inner.cursor(tls, depth, lane);
            let (buffer, _) = inner.tape(depth, lane).take(depth, cursor, now);
            while let Some(buffer) = inner.tape(depth, lane).out.pop() {
                self.hand_over(thread, inner, lane, buffer);
            }
            if let Some(buffer) = buffer {
                self.hand_over(thread, inner, lane, buffer);
            }
            while let Some(buffer) = inner.tape(depth, lane).deeper.pop() {
                self.hand_over(thread, inner, lane, buffer);
            }
        }
    }

    /// Finishes the trace: afterwards nothing is recorded. Another thread that calls it meanwhile
    /// waits for its end. In a process that only shares the memory (vfork) nothing happens.
    pub fn finish(&'static self, tls: &TlsBlock, how: &Finish) {
        if !self.is_own_process() {
            return;
        }
        let _errno = Errno::save();
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        if self.finishing.swap(true, SeqCst) {
            let started = Instant::now();
            while !self.ended.load(SeqCst) && started.elapsed() < THREAD_PATIENCE {
                std::thread::sleep(Duration::from_millis(1));
            }
            return;
        }
        let recorded = self.is_recording();
        self.discard();
        if recorded {
            self.catch_up(tls, how.registers.as_ref());
            self.close_all(how, false);
        }
        self.end(how, recorded);
        self.ended.store(true, SeqCst);
    }

    /// Writes out everything and an end, and goes on recording: the program may be about to be
    /// replaced.
    pub fn checkpoint(&'static self, tls: &TlsBlock, how: &Finish) {
        if !self.is_own_process() || !self.is_recording() {
            return;
        }
        let _errno = Errno::save();
        let _uncancellable = Uncancellable::new();
        let _blocked = Blocked::new();
        let _quiet = tls.quiet();
        self.close_all(how, true);
        self.end(how, true);
    }

    /// Moves the calling thread's cursor to where its interrupted code really was, if that is seen.
    fn catch_up(&self, tls: &TlsBlock, registers: Option<&Registers>) {
        if let (Some(thread), Some(registers)) = (registers.and(registry::current(tls)), registers)
        {
            let inner = thread.lock();
            let buffer = &inner.levels[inner.depth].tapes[Lane::Stream as usize].buffer;
            let ahead = buffer
                .as_ref()
                .and_then(|buffer| self.cursor_ahead(buffer, tls.at(Lane::Stream), registers));
            if let Some(cursor) = ahead {
                tls.set_cursor(cursor);
            }
        }
    }

    fn close_all(&'static self, how: &Finish, resume: bool) {
        for thread in self.registry.iter() {
            let deadline = Instant::now() + THREAD_PATIENCE;
            let Some(mut inner) = lock_until(thread, deadline) else {
                self.counters.losses.fetch_add(1, Relaxed);
                continue;
            };
            if inner.status == Status::Live {
                self.close(thread, &mut inner, how.reason, resume);
            }
        }
    }

    /// Sends what a live thread has recorded, without taking its buffers from it.
    fn close(&'static self, thread: &Thread, inner: &mut Inner, reason: EndReason, resume: bool) {
        // SAFETY: a live context's thread cannot end while its state is locked: ending takes the lock.
        let Some(tls) = (unsafe { registry::block(thread) }) else {
            return;
        };
        let now = self.clock.now();
        for (depth, lane) in tapes(inner.depth) {
            while let Some(buffer) = inner.tape(depth, lane).out.pop() {
                self.hand_over(thread, inner, lane, buffer);
            }
            let cursor = inner.cursor(tls, depth, lane);
            self.lend(thread, inner, depth, lane, cursor, now);
            while let Some(buffer) = inner.tape(depth, lane).deeper.pop() {
                self.hand_over(thread, inner, lane, buffer);
            }
        }
        let end = Event::ContextEnd { reason, at: now };
        let own = (thread.context() < TEAM_STREAMS).then_some(end);
        let entered = thread.stay(now);
        let mut bytes = [0; INLINE];
        let mut len = 0;
        for event in [own, entered, entered.and(Some(end))].iter().flatten() {
            let mut encoded = [0; MAX_EVENT];
            let n = event.encode(&mut encoded);
            bytes[len..len + n].copy_from_slice(&encoded[..n]);
            len += n;
        }
        if len > 0 {
            let records = Records::Inline(bytes, len);
            self.stream(thread, inner, (0, Lane::Stream), (now, now), records);
        }
        if !resume {
            inner.status = Status::Ended;
        }
    }

    pub(crate) fn lend(
        &'static self,
        thread: &Thread,
        inner: &mut Inner,
        depth: usize,
        lane: Lane,
        cursor: *mut u8,
        now: u64,
    ) {
        let tape = inner.tape(depth, lane);
        let (begin, first) = (tape.begin, tape.first);
        if !tape.buffer.as_ref().is_some_and(|b| b.contains(cursor)) || cursor <= begin {
            return;
        }
        // SAFETY: begin and cursor lie in the tape's buffer, whose bytes up to the cursor its thread
        // has written and writes no more; `borrowed` keeps the buffer from being unmapped, and it is
        // recycled only after a later message.
        let bytes = unsafe { std::slice::from_raw_parts(begin, cursor.addr() - begin.addr()) };
        tape.begin = cursor;
        tape.first = now;
        inner.borrowed = true;
        let records = Records::Borrowed(bytes);
        self.stream(thread, inner, (depth, lane), (first, now), records);
    }

    fn stream(
        &'static self,
        thread: &Thread,
        inner: &mut Inner,
        (depth, lane): (usize, Lane),
        (first, last): (u64, u64),
        records: Records,
    ) {
        self.count_bytes(lane, records.bytes().len());
        if self.counting_only {
            return;
        }
        if self.queue.is_full() {
            self.drain(None);
        }
        self.send(Message::Stream {
            lane,
            context: thread.context(),
            level: level::number(depth),
            seq: inner.next_seq(lane),
            first,
            last,
            records,
        });
    }

    /// The end of the file, and the statistics.
    fn end(&'static self, how: &Finish, recorded: bool) {
        let totals = self.totals(how, recorded);
        let mut stats = Stats {
            bytes: totals.bytes,
            syncs: totals.syncs,
            pauses: totals.pauses,
            contexts: totals.contexts,
            lost_bytes: totals.lost_bytes,
            complete: totals.complete,
            ..Stats::default()
        };
        if !self.counting_only {
            self.send(Message::End(Box::new(totals)));
            if !self.drain(how.patience) {
                notice::say(&format!(
                    "{} takes no more bytes; the end of the trace is lost",
                    self.place
                ));
                return;
            }
        }
        let Some(path) = &self.options.stats else {
            return;
        };
        if let Some(scan) = &lock(&self.writer).scan {
            stats.blocks = scan.executions;
            stats.accesses = scan.accesses;
            stats.complete &= scan.faults == 0;
        }
        if let Err(e) = stats.write(path) {
            notice::say(&format!(
                "cannot write the statistics to {}: {e}; set CONTECH_STATS to a path that can be written",
                path.display()
            ));
        }
    }

    fn totals(&self, how: &Finish, recorded: bool) -> Totals {
        let c = &self.counters;
        let mut notes = lock(&self.notes).clone();
        let losses = c.losses.load(Relaxed);
        if losses > 0 {
            notes.push(format!(
                "records were lost at {losses} places (jumps out of signal handlers, asynchronous cancellation)"
            ));
        }
        let complete = recorded && notes.is_empty();
        notes.extend(lock(&self.remarks).iter().cloned());
        let libraries = lock(&self.libraries);
        notes.extend(libraries.iter().filter(|(_, n)| *n > 0).map(|(name, n)| {
            let threads = if *n == 1 { "thread" } else { "threads" };
            format!("{n} {threads} appeared unannounced in {name}")
        }));
        notes.extend(self.host.remarks());
        notes.extend(how.note.clone());
        let live_syncs: u64 = self.registry.iter().map(|t| t.syncs.load(Relaxed)).sum();
        Totals {
            complete,
            clock_hz: self.clock.measured_hz(),
            end: self.clock.now(),
            contexts: c.contexts.load(Relaxed),
            unannounced: c.unannounced.load(Relaxed),
            bytes: c.bytes.load(Relaxed),
            lost_bytes: c.lost_bytes.load(Relaxed),
            syncs: c.syncs.load(Relaxed) + live_syncs,
            pauses: c.pauses.load(Relaxed),
            notes,
        }
    }
}

/// Every tape of the levels up to `depth`, in the order their records belong.
fn tapes(depth: usize) -> impl Iterator<Item = (usize, Lane)> {
    (0..=depth).flat_map(|depth| Lane::ALL.map(|lane| (depth, lane)))
}

fn lock_until(thread: &'static Thread, deadline: Instant) -> Option<MutexGuard<'static, Inner>> {
    loop {
        match thread.inner.try_lock() {
            Ok(guard) => return Some(guard),
            Err(_) if Instant::now() >= deadline => return None,
            Err(_) => std::thread::sleep(Duration::from_micros(100)),
        }
    }
}
