//! Notes long intervals between two times, and takes out of them what other programs took of the
//! processor.

use contech_interpose::meter::LONG;
use contech_trace::event::Event;

use std::sync::atomic::Ordering::Relaxed;

use crate::append::encode_at;
use crate::recorder::Recorder;
use crate::registry;
use crate::stamps::OPEN;
use crate::tls::TlsBlock;
use contech_interpose::arch::ticks;

/// After an interval of so many ticks between two operations, others are asked for: less than a
/// thousandth of the time goes into that.
const ASKED: u64 = 30 * LONG;

impl Recorder {
    /// Ticks now, where an operation begins. What other programs took since the last one is taken
    /// out of the work before it.
    #[inline]
    pub fn before(&'static self, tls: &TlsBlock) -> u64 {
        let now = ticks();
        let interval = tls.stamps().note(now);
        self.without_others(tls, now, interval)
    }

    #[inline]
    fn without_others(&'static self, tls: &TlsBlock, now: u64, interval: u64) -> u64 {
        if interval > ASKED {
            self.take_out(tls, interval);
            return self.clock.now();
        }
        now.saturating_sub(self.clock.start_ticks())
    }

    /// Ticks now, where an operation of instrumented code happens that does not wait, or `OPEN`:
    /// where such operations follow each other closely, not each of them reads the clock.
    #[inline(always)]
    pub fn moment(&'static self, tls: &TlsBlock) -> u64 {
        let cursor = tls.cursor();
        if tls.stamps().leaves_open(cursor) {
            return OPEN;
        }
        self.moment_now(tls, cursor)
    }

    #[inline(never)]
    fn moment_now(&'static self, tls: &TlsBlock, cursor: *mut u8) -> u64 {
        if !self.may_open.load(Relaxed) || tls.is_gated() {
            return self.before(tls);
        }
        let now = ticks();
        let interval = tls.stamps().note_dense(now, cursor);
        self.without_others(tls, now, interval)
    }

    /// Ticks that the calling thread has waited since `before`. They are no time of other programs.
    /// Another core's counter may be a few ticks behind, so this never goes below 0.
    pub fn waited(&self, tls: &TlsBlock, before: u64) -> u64 {
        let now = ticks();
        tls.stamps().note(now);
        let waited = now.saturating_sub(self.clock.start_ticks() + before);
        if let Some(thread) = registry::current(tls) {
            thread.meter.waited(waited);
        }
        waited
    }

    /// Records what other programs took of the last `interval` ticks.
    #[cold]
    fn take_out(&self, tls: &TlsBlock, interval: u64) {
        self.answer_now(tls);
        // A thread between two contexts does no work.
        let works = self.current_context(tls).is_some();
        let room = !tls.cursor().is_null() && tls.cursor() < tls.limit();
        if !works || !room || tls.handlers() > 0 || tls.is_gated() {
            return;
        }
        let Some(thread) = registry::current(tls) else {
            return;
        };
        // Something remains of the work: the thread came here.
        let taken = thread.meter.read().min(interval - interval / 64);
        if taken > 0 {
            tls.set_cursor(encode_at(tls.cursor(), &Event::Stolen { taken }));
        }
    }

    /// Notes the time at the end of the calling thread's records, before which nothing may have
    /// been recorded for long.
    pub(crate) fn last_gap(&self, tls: &TlsBlock) {
        self.take_out(tls, tls.stamps().interval(ticks()));
        self.last_position(tls);
    }
}
