#![allow(unsafe_code, reason = "changes the limits of threads that still run")]
//! Positions: about a thousand times a second each thread notes where its stream is, and what the
//! kernel says of its time so far. So it is known how long the code between two positions ran, in
//! the program and in the kernel.
//!
//! The writer's thread asks for them: it makes the limit of a thread's buffer one that any cursor
//! has passed. The next check of the buffer's room then leads to [`Recorder::answer`], which notes
//! the position and puts the limit back. The program's code has no instruction more for that. The
//! owner of a limit may overwrite the question at any time. Then there is no answer, and the next
//! question comes a millisecond later.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use contech_interpose::clock::{Instant, ran};
use contech_trace::event::Event;

use crate::append::encode_at;
use crate::inner::{Inner, Status};
use crate::lane::Lane;
use crate::mask::Blocked;
use crate::recorder::Recorder;
use crate::registry;
use crate::sync::{lock, try_lock};
use crate::target::Target;
use crate::thread::Thread;
use crate::tls::{self, TlsBlock};

/// The time between two questions at first. It is that of the kernel's own clock on many machines.
const PERIOD: Duration = Duration::from_millis(1);
/// To ask a thread takes some 0.3 microseconds, so this is the least time for each of them.
const EACH: Duration = Duration::from_micros(30);
/// After so many questions the time between them doubles. So a long run has some hundred thousand
/// positions.
const MOST: u64 = 1 << 16;
/// The limit of a buffer whose thread is asked. It is not null, which asks for another buffer.
const ASKED: *mut u8 = std::ptr::without_provenance_mut(1);

/// Whether a limit is a question.
pub(crate) fn is_asked(limit: *mut u8) -> bool {
    limit == ASKED
}

/// What the writer's thread knows of its questions.
#[derive(Debug)]
pub(crate) struct Asker {
    period: Duration,
    last: Instant,
    asked: u64,
}

impl Default for Asker {
    fn default() -> Self {
        Asker { period: PERIOD, last: Instant::now(), asked: 0 }
    }
}

impl Recorder {
    /// The body of the writer thread.
    pub(crate) fn write_until_closed(&'static self) {
        let mut asker = Asker::default();
        while self.desk.queue.wait(|| self.ask_positions(&mut asker)) {
            let mut writer = lock(&self.writer);
            if let Some(message) = self.desk.queue.take() {
                self.write(&mut writer, message);
            }
        }
    }

    /// Asks all threads for their positions, if it is time. Returns how long it is until the next
    /// time; `None` if positions are of no use.
    pub(crate) fn ask_positions(&self, asker: &mut Asker) -> Option<Duration> {
        let wanted = self.options.target != Target::Null;
        if !wanted || !self.is_recording() {
            return None;
        }
        let rest = asker.period.saturating_sub(asker.last.elapsed());
        if rest > Duration::ZERO {
            return Some(rest);
        }
        asker.last = Instant::now();
        let mut threads = 0;
        self.registry.each(|thread| {
            threads += 1;
            asker.asked += u64::from(ask(thread));
        });
        if asker.asked >= MOST {
            (asker.asked, asker.period) = (0, asker.period * 2);
        }
        asker.period = asker.period.max(EACH * threads);
        Some(asker.period)
    }

    /// Notes a position at the cursor of the calling thread, which was asked for it, and gives it
    /// its limit back. Returns `None`, and does nothing, if the thread needs another buffer.
    pub(crate) fn answer(
        &self,
        tls: &TlsBlock,
        thread: &Thread,
        inner: &mut Inner,
        cursor: *mut u8,
    ) -> Option<*mut u8> {
        let depth = inner.depth;
        let buffer = inner.tape(depth, Lane::Stream).buffer.as_ref()?;
        let limit = buffer.limit();
        if !buffer.contains(cursor) || cursor >= limit {
            return None;
        }
        // Signal handlers are short, and what a gated thread or a library's writes is not kept.
        // The event of a spin-wait goes on to count tries where it is.
        let waits = tls.spin().is_waiting();
        let notes = !waits && depth == 0 && !tls.is_gated() && tls.role() == tls::PROGRAM;
        let cursor = match notes {
            true => {
                thread.uses(buffer, cursor);
                self.position(thread, cursor)
            }
            false => cursor,
        };
        tls.set_at(Lane::Stream, (cursor, limit));
        Some(cursor)
    }

    /// Notes a position at a cursor with room. Returns the cursor behind it.
    pub(crate) fn position(&self, thread: &Thread, cursor: *mut u8) -> *mut u8 {
        let ran = ran();
        let event = Event::Position {
            at: self.clock.now(),
            ran: ran.all_us,
            system: ran.system_us,
            faults: u32::try_from(ran.faults).unwrap_or(u32::MAX),
            own: u32::try_from(thread.own_pages.load(Relaxed)).unwrap_or(u32::MAX),
            processor: ran.processor,
        };
        encode_at(cursor, &event)
    }

    /// Gives the calling thread its limit back if it was asked for its position.
    pub(crate) fn answer_now(&self, tls: &TlsBlock) {
        if is_asked(tls.limit())
            && let Some(thread) = registry::current(tls)
        {
            let blocked = Blocked::new();
            self.answer(tls, thread, &mut thread.lock(&blocked), tls.cursor());
        }
    }

    /// Notes the last position of the calling thread, which has no question left.
    pub(crate) fn last_position(&self, tls: &TlsBlock) {
        let cursor = tls.cursor();
        let notes = tls.role() == tls::PROGRAM && !tls.is_gated() && tls.handlers() == 0;
        if notes
            && !cursor.is_null()
            && cursor < tls.limit()
            && let Some(thread) = registry::current(tls)
        {
            tls.set_cursor(self.position(thread, cursor));
        }
    }
}

/// Asks a thread that records for its position. Returns whether it was not asked already.
fn ask(thread: &Thread) -> bool {
    let Some(inner) = try_lock(&thread.inner) else {
        return false;
    };
    if inner.status != Status::Live {
        return false;
    }
    // SAFETY: the thread's state is locked and live, and the thread cannot end before it gets the
    // lock.
    let Some(tls) = (unsafe { registry::block(thread) }) else {
        return false;
    };
    let limit = tls.limit();
    let asks = !limit.is_null() && !is_asked(limit);
    if asks {
        tls.replace_limit(limit, ASKED);
    }
    asks
}
