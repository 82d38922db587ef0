//! The slow path of a thread, taken when its buffer is full, when it has none yet, or when
//! handlers' records are due.

use std::sync::atomic::Ordering::Relaxed;

use contech_trace::event::Event;

use crate::append::encode_at;
use crate::buffer::Buffer;
use crate::desk::Standing;
use crate::handler::on_own_stack;
use crate::inner::{Inner, Status};
use crate::losses::Loss;
use crate::mask::Blocked;
use crate::memory::{self, Errno};
use crate::notice;
use crate::pace::{LATE, PATIENCE};
use crate::positions;
use crate::recorder::Recorder;
use crate::scratch;
use crate::thread::Thread;
use crate::tls::{Lane, TlsBlock};
use contech_interpose::arch::ticks;

impl Recorder {
    /// Hands over what the thread recorded up to `cursor`, and returns a cursor with room. The
    /// thread-local block then holds the same cursor and its limit.
    pub fn flush(&'static self, tls: &TlsBlock, cursor: *mut u8) -> *mut u8 {
        self.flush_lane(tls, cursor, Lane::Stream)
    }

    /// Does what [`Recorder::flush`] does, for either stream.
    pub fn flush_lane(&'static self, tls: &TlsBlock, cursor: *mut u8, lane: Lane) -> *mut u8 {
        if tls.is_quiet() || !tls.takes_part() {
            return scratch::last_resort(tls, lane);
        }
        let asked = lane == Lane::Stream && positions::is_asked(tls.limit());
        // A handler that comes before signals are blocked must know what is recorded.
        tls.set_at(lane, (cursor, tls.at(lane).1));
        let mut cursor = cursor;
        if lane == Lane::Stream && tls.is_gated() {
            match self.room_again(tls) {
                Ok(cursor) => return cursor,
                Err(at) => cursor = at,
            }
        }
        let cursor = match self.room_in_library(tls, lane, cursor) {
            Ok(cursor) => return cursor,
            Err(cursor) => cursor,
        };
        let _errno = Errno::save();
        let blocked = Blocked::new();
        let _quiet = tls.quiet();
        on_own_stack(tls, &blocked, || self.change(tls, cursor, (lane, asked), &blocked))
    }

    /// Does what the buffer is full for, or what the thread is `asked` for.
    fn change(
        &'static self,
        tls: &TlsBlock,
        cursor: *mut u8,
        (lane, asked): (Lane, bool),
        blocked: &Blocked,
    ) -> *mut u8 {
        if lane == Lane::Stream && !(asked && tls.spin().is_waiting()) {
            // The event of the spin-wait is about to leave the thread's hands, so it cannot count
            // more tries.
            tls.forget_spin();
        }
        let Some(thread) = self.thread(tls) else {
            self.stop("no memory for another thread; recording stops here, the program goes on");
            return scratch::last_resort(tls, lane);
        };
        self.after_checkpoint();
        let mut inner = thread.lock(blocked);
        match self.desk.standing(&inner) {
            Standing::Records => {
                let noted = asked.then(|| self.answer(tls, thread, &mut inner, cursor));
                noted.flatten().unwrap_or_else(|| {
                    if lane == Lane::Stream {
                        tls.forget_spin();
                    }
                    self.turn(thread, &mut inner, tls, cursor, lane)
                })
            }
            Standing::Ends => {
                tls.set_at(lane, (cursor, cursor));
                self.end_recording(thread, &mut inner, tls, self.end_reason());
                own_scratch(&mut inner, tls, lane)
            }
            Standing::Out => own_scratch(&mut inner, tls, lane),
        }
    }

    fn turn(
        &'static self,
        thread: &Thread,
        inner: &mut Inner,
        tls: &TlsBlock,
        cursor: *mut u8,
        lane: Lane,
    ) -> *mut u8 {
        let depth = inner.depth;
        let now = self.clock.now();
        let live = inner.status == Status::Live;
        let full = &inner.tape(depth, lane).buffer;
        // The first buffer of a lane hands nothing over.
        let begun = live && full.is_some();
        if let Some(full) = full {
            thread.uses(full, cursor);
        }
        let whole = self.desk.turn(thread.context(), inner, (depth, lane), (cursor, now));
        if begun && depth == 0 {
            if self.starts_late {
                self.serve();
            } else {
                self.hand_on();
            }
        }
        if self.gate.has_reached(self.desk.queue.bytes()) {
            notice::say(&self.gate.told_limit());
        }
        let delay = if depth == 0 { self.pause_if_due() } else { None };
        if delay.is_some() && self.desk.standing(inner) == Standing::Ends {
            // The trace began to close in the meantime.
            tls.set_at(lane, (std::ptr::null_mut(), std::ptr::null_mut()));
            self.end_recording(thread, inner, tls, self.end_reason());
            return own_scratch(inner, tls, lane);
        }
        if lane == Lane::Stream && depth == 0 {
            thread.mark.store(std::ptr::null_mut(), Relaxed);
        }
        let Some(buffer) = self.buffer() else {
            self.stop("no memory for a buffer; recording stops here, the program goes on");
            return own_scratch(inner, tls, lane);
        };
        let (mut at, limit) = inner.tape(depth, lane).begin(buffer, self.clock.now());
        if !begun && depth == 0 {
            // The thread's clocks count from here.
            thread.meter.read();
            tls.stamps().note(ticks());
        }
        inner.status = Status::Live;
        if !whole {
            self.counters.losses.note(Loss::Cursor);
        }
        if lane == Lane::Stream {
            if !inner.introduced {
                inner.introduced = true;
                thread.count_begun();
                at = encode_at(at, &context_start(thread, now));
                at = self.position(thread, at);
            }
            if let Some(stay) = thread.stay(now) {
                at = encode_at(at, &stay);
            }
            if !whole {
                at = encode_at(at, &Event::Lost { bytes: 0 });
            }
            if let Some(delay) = delay {
                tls.spin().resume(self.clock.now());
                at = encode_at(at, &delay);
            }
            if depth == 0
                && let Some(switch) = self.pass_gate(tls)
            {
                at = encode_at(at, &switch);
            }
        }
        tls.set_at(lane, (at, limit));
        if lane == Lane::Check {
            thread.check_mark.store(at, Relaxed);
        }
        if lane == Lane::Stream && tls.is_gated() {
            tls.spin().drop_back(tls.slot());
        }
        at
    }

    /// Waits for the writer if the queue has reached its limit, or if records have waited for long
    /// although the file keeps up.
    fn pause_if_due(&'static self) -> Option<Event> {
        let before = self.clock.now();
        if self.desk.queue.is_full() {
            self.drain();
        } else {
            let oldest = self.desk.queue.oldest()?;
            let due = before.saturating_sub(self.clock.ticks(LATE));
            if oldest >= due || !self.pace.keeps_up() {
                return None;
            }
            if !self.desk.queue.drain_before(due, PATIENCE) {
                self.pace.stuck();
            }
        }
        self.counters.pauses.fetch_add(1, Relaxed);
        Some(Event::Delay { before, duration: self.clock.now().saturating_sub(before) })
    }
}

fn context_start(thread: &Thread, at: u64) -> Event {
    Event::ContextStart {
        context: thread.context(),
        creator: thread.creator.load(Relaxed),
        announced: thread.announced.load(Relaxed),
        tid: memory::thread_id(),
        at,
    }
}

/// Points the thread at scratch memory of its own, mapped at first use.
pub(crate) fn own_scratch(inner: &mut Inner, tls: &TlsBlock, lane: Lane) -> *mut u8 {
    let scratch = &mut inner.scratch[lane as usize];
    if scratch.is_none() {
        *scratch = Buffer::map(scratch::BYTES);
    }
    match scratch {
        Some(buffer) => {
            tls.set_at(lane, (buffer.data(), buffer.limit()));
            buffer.data()
        }
        None => scratch::last_resort(tls, lane),
    }
}
