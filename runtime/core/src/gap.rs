//! Notes long intervals between two times within tasks, and takes out of them what other programs took of the
//! processor.

use contech_guest::meter::LONG;
use contech_trace::event::Event;

use crate::append::encode_at;
use crate::recorder::Recorder;
use crate::registry;
use crate::thread::Thread;
use crate::tls::{self, TlsBlock};
use contech_guest::arch::ticks;

impl Recorder {
    /// Notes the time after a long interval, without what other programs took of it. The cursor must have room. Returns
    /// the cursor to go on with.
    pub fn gap(&'static self, tls: &TlsBlock, cursor: *mut u8) -> *mut u8 {
        let (_, limit) = tls.at(tls::Lane::Stream);
        if tls.is_quiet()
            || tls.role() != tls::PROGRAM
            || limit.is_null()
            || tls.stamps().pass(cursor).is_none()
        {
            return self.flush(tls, cursor);
        }
        let Some(thread) = registry::current(tls) else {
            return self.flush(tls, cursor);
        };
        let at = self.note_gap(tls, thread, cursor);
        tls.forget_spin();
        tls.set_at(tls::Lane::Stream, (at, tls.stamps().soon(at, ticks())));
        at
    }

    /// Notes the time at the end of the calling thread's records, before which nothing may have been recorded for long.
    pub(crate) fn last_gap(&self, tls: &TlsBlock) {
        let cursor = tls.cursor();
        let noted = self.stamp_cost > 0 && tls.stamps().pass(cursor).is_some();
        if noted
            && tls.stamps().interval(ticks()) > LONG
            && let Some(thread) = registry::current(tls)
        {
            let at = self.note_gap(tls, thread, cursor);
            tls.set_cursor(at);
        }
    }

    /// Writes the event of a long interval.
    fn note_gap(&self, tls: &TlsBlock, thread: &Thread, cursor: *mut u8) -> *mut u8 {
        let now = self.clock.now();
        let interval = tls.stamps().interval(ticks());
        let stolen = thread.meter.read().min(interval);
        let event = Event::Time {
            before: now.saturating_sub(stolen),
            taken: stolen + self.clock.now().saturating_sub(now),
        };
        encode_at(cursor, &event)
    }
}
